// SPDX-License-Identifier: Apache-2.0

/// The counts of the five families.
package struct PrefetchCounts: Equatable, Sendable {
    package var scheduled: Int64 = 0
    package var executed: Int64 = 0
    package var success: Int64 = 0
    package var network: Int64 = 0
    package var auth: Int64 = 0
    package var system: Int64 = 0
    package var used: Int64 = 0

    package init() {}

    mutating func failed(_ reason: StoryStep.Reason) {
        switch reason {
        case .network: network += 1
        case .auth: auth += 1
        case .system: system += 1
        }
    }

    static func combined(_ left: Self, _ right: Self, _ body: (Int64, Int64) -> Int64) -> Self {
        var result = Self()
        result.scheduled = body(left.scheduled, right.scheduled)
        result.executed = body(left.executed, right.executed)
        result.success = body(left.success, right.success)
        result.network = body(left.network, right.network)
        result.auth = body(left.auth, right.auth)
        result.system = body(left.system, right.system)
        result.used = body(left.used, right.used)
        return result
    }

    static func += (left: inout Self, right: Self) { left = combined(left, right, +) }

    /// Each count by the series of the page.
    package var series: [(name: String, value: Int64)] {
        [
            ("dnp_prefetch_scheduled_total", scheduled), ("dnp_prefetch_executed_total", executed),
            ("dnp_prefetch_success_total", success), (#"dnp_prefetch_failure_total{reason="NETWORK"}"#, network),
            (#"dnp_prefetch_failure_total{reason="AUTH"}"#, auth),
            (#"dnp_prefetch_failure_total{reason="SYSTEM"}"#, system),
            ("dnp_prefetch_used_for_notification_total", used),
        ]
    }
}
