// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle

/// A family of counters that the fold's totals tell: its name, meaning and labels, and what each of its series counts.
struct LifecycleCounterFamily: Sendable {
    /// One series: the values of the family's labels, and where its count is.
    struct Member: Sendable {
        let labelValues: [String]
        /// Whether pages leave it out while it is at 0.
        let isShownOnceUsed: Bool
        /// As what the fold tells of the last thing that was counted here, where it does.
        var observed: LifecycleObservation.Place?
        let count: @Sendable (LifecycleTotals) -> UInt64
    }

    let name: String
    let help: String
    let labels: [String]
    let members: [Member]

    /// A family without labels.
    init(_ name: String, help: String, count: @escaping @Sendable (LifecycleTotals) -> UInt64) {
        self.name = name
        self.help = help
        labels = []
        members = [Member(labelValues: [], isShownOnceUsed: false, count: count)]
    }

    /// A family with a label that takes its values from a closed set.
    ///
    /// - Parameters:
    ///   - cases: the closed set.
    ///   - onceUsed: the case that pages leave out while it is at 0.
    ///   - value: the label value of a case.
    ///   - observed: as what the fold tells of the last thing that was counted of a case.
    init<Case: Equatable & Sendable>(
        _ name: String,
        help: String,
        label: String,
        of cases: [Case],
        onceUsed: Case? = nil,
        value: (Case) -> StaticString,
        observed: (Case) -> LifecycleObservation.Place? = { _ in nil },
        count: @escaping @Sendable (LifecycleTotals, Case) -> UInt64
    ) {
        self.name = name
        self.help = help
        labels = [label]
        members = cases.map { member in
            Member(
                labelValues: ["\(value(member))"],
                isShownOnceUsed: member == onceUsed,
                observed: observed(member)
            ) { count($0, member) }
        }
    }

    /// A family of the results of checks.
    init(
        _ name: String,
        help: String,
        checks count: @escaping @Sendable (LifecycleTotals, IntegrityCheck, IntegrityResult) -> UInt64
    ) {
        self.name = name
        self.help = help
        labels = ["check", "result"]
        members = IntegrityCheck.allCases.flatMap { check in
            IntegrityResult.allCases.map { result in
                Member(labelValues: ["\(check.name)", "\(result.name)"], isShownOnceUsed: false) {
                    count($0, check, result)
                }
            }
        }
    }
}
