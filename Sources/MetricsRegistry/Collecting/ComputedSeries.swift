// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The series of a family that a function computes: after each run those that it gave, and no others.
struct ComputedSeries<Member: Instrument>: Sendable {
    private let family: InstrumentFamily<Member>
    private let store: @Sendable (inout MetricsUpdate, Member, Double) -> Void
    private let shown = Shown()

    private final class Shown: Sendable {
        let labelValues = Mutex<Set<[String]>>([])
    }

    init(
        _ family: InstrumentFamily<Member>,
        store: @escaping @Sendable (inout MetricsUpdate, Member, Double) -> Void
    ) {
        self.family = family
        self.store = store
    }

    /// Takes over what the function gave. Of values for the same labels the last counts. What it gives no longer goes
    /// first, so that as many new series have room.
    func show(_ samples: [(labelValues: [String], value: Double)], in registry: MetricsRegistry) {
        let given = Set(samples.map(\.labelValues))
        for labelValues in shown.labelValues.withLock({ $0.subtracting(given) }) { _ = family.remove(labelValues) }
        var members: Set<[String]> = []
        registry.update { update in
            for (labelValues, value) in samples {
                let member = family.member(labelValues)
                store(&update, member, value)
                members.insert(member.labelValues)
            }
        }
        shown.labelValues.withLock { $0 = members }
    }
}
