// SPDX-License-Identifier: Apache-2.0

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
