// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The handlers of one sort: found by label and dimensions, made where there is none yet.
final class Reports<Handler: Report>: Sendable {
    private let registry: MetricsRegistry
    private let options: RegistryMetricsOptions
    private let cache = ReportCache<Handler>()
    private let families = Mutex<[String: ReportedFamily<Handler.Member>]>([:])

    init(_ registry: MetricsRegistry, _ options: RegistryMetricsOptions) {
        self.registry = registry
        self.options = options
    }

    func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let hash = cache.hash(label, dimensions)
        return cache.handler(hash, label, dimensions) ?? make(label, dimensions, hash: hash)
    }

    /// What goes to the overflow series isn't kept, so that foreign values don't push out what is looked up again.
    private func make(_ label: String, _ dimensions: [(String, String)], hash: UInt64) -> Handler {
        let family = family(label)
        let generation = family.generation
        let labels = ReportedLabels.flat(dimensions, options.naming)
        let handler = Handler(ReportedSeries(member: family.series.member(labels), family: family))
        if handler.member.labelValues == labels {
            cache.keep(handler, generation: generation, hash, label, dimensions)
        }
        return handler
    }

    private func family(_ label: String) -> ReportedFamily<Handler.Member> {
        let (known, isFull) = families.withLock { ($0[label], $0.count >= registry.limits.families) }
        if let known { return known }
        // Past the limit all labels share one detached family, so that they neither grow nor report without end.
        if isFull && !label.isEmpty { return family("") }
        let fresh = ReportedFamily(
            Handler.series(of: label, in: registry, options),
            ignoredValues: registry.own.ignoredValues
        )
        return families.withLock { families in
            if let earlier = families[label] { return earlier }
            families[label] = fresh
            return fresh
        }
    }
}
