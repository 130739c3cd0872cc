// SPDX-License-Identifier: Apache-2.0

/// A handler of swift-metrics that writes to one series of a registry.
protocol Report: AnyObject, Sendable {
    associatedtype Member: Instrument

    init(_ member: Member, of family: ReportedFamily<Member>)

    var member: Member { get }
    var family: ReportedFamily<Member> { get }

    /// The family on the page for a label of swift-metrics.
    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Member>
}

extension Report {
    /// Takes the series from the page.
    func remove() {
        _ = family.series.remove(member.labelValues)
    }
}

/// The family that the reports of one label write to.
final class ReportedFamily<Member: Instrument>: Sendable {
    let series: InstrumentFamily<Member>
    /// Where what can't be taken is counted.
    let ignoredValues: Counter

    init(_ series: InstrumentFamily<Member>, ignoredValues: Counter) {
        self.series = series
        self.ignoredValues = ignoredValues
    }

    /// How often series were removed: what was looked up before may be gone.
    var generation: Int { series.generation }
}
