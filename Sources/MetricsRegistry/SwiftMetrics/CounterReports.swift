// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// A `Counter` of swift-metrics.
final class CounterReport: Report, CounterHandler {
    let member: Counter
    let family: ReportedFamily<Counter>

    init(_ member: Counter, of family: ReportedFamily<Counter>) {
        self.member = member
        self.family = family
    }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Counter> {
        let descriptor = MetricDescriptor.reported(
            label,
            options,
            kind: .counter,
            help: "A total that a library keeps through swift-metrics.",
            suffix: "_total"
        )
        return registry.family(descriptor, of: Counter.self, shape: .wholeNumber)
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
    let member: FractionalCounter
    let family: ReportedFamily<FractionalCounter>

    init(_ member: FractionalCounter, of family: ReportedFamily<FractionalCounter>) {
        self.member = member
        self.family = family
    }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<FractionalCounter> {
        let descriptor = MetricDescriptor.reported(
            label,
            options,
            kind: .counter,
            help: "A total that a library keeps through swift-metrics.",
            suffix: "_total"
        )
        return registry.family(descriptor, of: FractionalCounter.self, shape: .floatingPoint)
    }

    func increment(by amount: Double) {
        member.add(amount)
    }

    func reset() {
        family.ignoredValues.add()
    }
}
