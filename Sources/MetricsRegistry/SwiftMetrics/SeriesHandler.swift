// SPDX-License-Identifier: Apache-2.0

/// A handler of swift-metrics that writes to one series of a registry.
protocol Report: AnyObject, Sendable {
    associatedtype Member: Instrument

    init(_ reported: ReportedSeries<Member>)

    var reported: ReportedSeries<Member> { get }

    /// The family on the page for a label of swift-metrics.
    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Member>
}

extension Report {
    var member: Member { reported.member }
    var family: ReportedFamily<Member> { reported.family }

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
