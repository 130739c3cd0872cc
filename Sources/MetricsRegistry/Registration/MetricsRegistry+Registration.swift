// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// The family of that description: the registered one, a new one, or in a conflict a detached one.
    ///
    /// `wasAdded` tells of a new one.
    func family<Member: Instrument>(
        _ descriptor: MetricDescriptor,
        of type: Member.Type,
        shape: SampleShape,
        isComputed: Bool = false,
        maximumSeries: Int? = nil
    ) -> (family: InstrumentFamily<Member>, wasAdded: Bool) {
        if let conflict = descriptor.conflict(limits: limits) {
            return (detached(descriptor, shape: shape, after: conflict), false)
        }
        let outcome = catalog.withLock { catalog in
            if let registered = catalog.families[descriptor.name] {
                return existing(registered, for: descriptor, of: type, shape: shape, isComputed: isComputed)
            }
            if let conflict = catalog.conflict(adding: descriptor, limits: limits) {
                return Outcome.conflict(conflict)
            }
            let overflowedLookups = own.overflowedLookups
            let family = InstrumentFamily<Member>(
                descriptor,
                shape: shape,
                isComputed: isComputed,
                rules: rules(
                    maximumSeries: maximumSeries,
                    overflowedLookups: descriptor.hasLabels ? overflowedLookups.member(descriptor.name) : nil
                )
            )
            catalog.add(family)
            return Outcome.added(family)
        }
        switch outcome {
        case .added(let family): return (family, true)
        case .existing(let family): return (family, false)
        case .conflict(let conflict): return (detached(descriptor, shape: shape, after: conflict), false)
        }
    }

    /// Reports a conflict, and gives a family that is on no page.
    func detached<Member: Instrument>(
        _ descriptor: MetricDescriptor,
        shape: SampleShape,
        after conflict: RegistrationConflict
    ) -> InstrumentFamily<Member> {
        own.conflicts.add()
        onConflict(conflict)
        return InstrumentFamily(descriptor, shape: shape, rules: rules(maximumSeries: nil, overflowedLookups: nil))
    }

    private enum Outcome<Member: Instrument>: Sendable {
        case added(InstrumentFamily<Member>)
        case existing(InstrumentFamily<Member>)
        case conflict(RegistrationConflict)
    }

    private func existing<Member: Instrument>(
        _ registered: any ExposedFamily,
        for descriptor: MetricDescriptor,
        of type: Member.Type,
        shape: SampleShape,
        isComputed: Bool
    ) -> Outcome<Member> {
        if let conflict = descriptor.conflict(with: registered.descriptor) { return .conflict(conflict) }
        guard let family = registered as? InstrumentFamily<Member> else {
            return .conflict(
                descriptor.conflict(
                    .otherKind,
                    expected: "\(sort(of: registered)), as registered first",
                    found: "one of another sort",
                    advice: "register the metric in the same way everywhere"
                )
            )
        }
        if isComputed || family.isComputed {
            return .conflict(
                descriptor.conflict(
                    .repeatedFunction,
                    expected: "one registration of a metric that a function computes",
                    found: "a second one",
                    advice: "register it in one place, or set a gauge in onCollect"
                )
            )
        }
        if case .histogram(let wanted) = shape, case .histogram(let bounds) = family.shape,
            let conflict = descriptor.conflict(wanted, with: bounds)
        {
            return .conflict(conflict)
        }
        return .existing(family)
    }

    /// What a family has, for a person who registered its name as something else of the same kind.
    private func sort(of registered: any ExposedFamily) -> String {
        switch registered {
        case is InstrumentFamily<Counter>: "a plain counter of whole numbers"
        case is InstrumentFamily<StripedCounter>: "a striped counter"
        case is InstrumentFamily<FractionalCounter>: "a counter with fractions"
        default: "a \(registered.descriptor.kind.rawValue)"
        }
    }

    private func rules(maximumSeries: Int?, overflowedLookups: Counter?) -> FamilyRules {
        FamilyRules(
            maximumSeries: max(maximumSeries ?? limits.seriesPerFamily, 1),
            maximumValueBytes: limits.labelValueBytes,
            maximumLabelBytes: limits.labelBytesPerFamily,
            maximumOpenLabels: limits.labels,
            maximumNameBytes: limits.nameBytes,
            now: now,
            overflowedLookups: overflowedLookups ?? Counter(InstrumentSeed(created: 0, shape: .wholeNumber)),
            ignoredValues: own.ignoredValues
        )
    }
}
