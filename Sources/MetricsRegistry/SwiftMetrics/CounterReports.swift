// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// A `Counter` of swift-metrics.
final class CounterReport: Report, CounterHandler {
    let reported: ReportedSeries<Counter>

    init(_ reported: ReportedSeries<Counter>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Counter> {
        registry.family(.reportedTotal(label, options), of: Counter.self, shape: .wholeNumber)
    }

    func increment(by amount: Int64) {
        if amount < 0 { return family.ignoredValues.add() }
        member.add(UInt64(amount))
    }

    func reset() {
        family.ignoredValues.add()
    }
}

/// A `FloatingPointCounter` of swift-metrics.
final class FractionalCounterReport: Report, FloatingPointCounterHandler {
    let reported: ReportedSeries<FractionalCounter>

    init(_ reported: ReportedSeries<FractionalCounter>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<FractionalCounter> {
        registry.family(.reportedTotal(label, options), of: FractionalCounter.self, shape: .floatingPoint)
    }

    func increment(by amount: Double) {
        member.add(amount)
    }

    func reset() {
        family.ignoredValues.add()
    }
}
