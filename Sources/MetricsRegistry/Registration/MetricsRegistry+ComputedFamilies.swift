// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// Adds a family whose series a function gives; nil after a conflict, which is reported.
    func computedFamily(_ descriptor: MetricDescriptor, maximumSeries: Int? = nil) -> ComputedFamily? {
        let conflict = descriptor.conflict(limits: limits)
        let outcome: Result<ComputedFamily, RegistrationConflict> = catalog.withLock { catalog in
            if let conflict { return .failure(conflict) }
            if let registered = catalog.families[descriptor.name] {
                return .failure(descriptor.conflict(with: registered.descriptor) ?? descriptor.repeatedFunction())
            }
            if let conflict = catalog.conflict(adding: descriptor, limits: limits) { return .failure(conflict) }
            let overflowedLookups = descriptor.hasLabels ? own.overflowedLookups.member(descriptor.name) : nil
            let family = ComputedFamily(
                descriptor,
                rules: rules(maximumSeries: maximumSeries, overflowedLookups: overflowedLookups)
            )
            catalog.add(family)
            return .success(family)
        }
        switch outcome {
        case .success(let family): return family
        case .failure(let conflict):
            report(conflict)
            return nil
        }
    }
}

extension MetricDescriptor {
    /// A function's metric that is registered again, or another's that a function is to compute.
    func repeatedFunction() -> RegistrationConflict {
        conflict(
            .repeatedFunction,
            expected: "one registration of a metric that a function computes",
            found: "a second one",
            advice: "register it in one place, or set a gauge in onCollect"
        )
    }
}
