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
    /// Takes the series from the page; not one that came there under its name since, and not the overflow series, which
    /// others write to.
    func remove() {
        _ = family.series.remove(member)
    }

    /// Whether the series is on the page still.
    var isOnPage: Bool {
        var hash = LabelHash(seed: family.series.seed)
        for value in member.labelValues { hash.combine(value) }
        return family.series.find(hash.value) { $0 === member } != nil
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
