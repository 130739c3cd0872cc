// SPDX-License-Identifier: Apache-2.0

/// What the five counters must say.
struct LifecycleTotals: Equatable, Sendable {
    var scheduled = 0
    var executed = 0
    var success = 0
    var failure: [String: Int] = [:]
    var used = 0

    /// The number of events, if all of them count.
    var events: Int { scheduled + executed + success + used + failure.values.reduce(0, +) }

    static func + (left: LifecycleTotals, right: LifecycleTotals) -> LifecycleTotals {
        LifecycleTotals(
            scheduled: left.scheduled + right.scheduled,
            executed: left.executed + right.executed,
            success: left.success + right.success,
            failure: left.failure.merging(right.failure, uniquingKeysWith: +),
            used: left.used + right.used
        )
    }

    static func += (left: inout LifecycleTotals, right: LifecycleTotals) { left = left + right }

    /// Each series with its value.
    var series: [MetricsPage.Series: Double] {
        var series: [MetricsPage.Series: Double] = [:]
        for (name, value) in [
            ("dnp_prefetch_scheduled_total", scheduled), ("dnp_prefetch_executed_total", executed),
            ("dnp_prefetch_success_total", success), ("dnp_prefetch_used_for_notification_total", used),
        ] {
            series[MetricsPage.Series(name: name, labels: [:])] = Double(value)
        }
        for reason in ["NETWORK", "AUTH", "SYSTEM"] {
            let key = MetricsPage.Series(name: "dnp_prefetch_failure_total", labels: ["reason": reason])
            series[key] = Double(failure[reason] ?? 0)
        }
        return series
    }
}

extension MetricsPage {
    /// The five families of this page, with whatever labels they have.
    var lifecycle: [Series: Double] {
        let names = Set(LifecycleTotals().series.keys.map(\.name))
        return samples.filter { names.contains($0.key.name) }
    }
}
