// SPDX-License-Identifier: Apache-2.0

package import LogInput
internal import TelemetryEvents

/// How inputs are judged.
package struct JudgementOptions: Sendable {
    /// What is known of each cycle in the end.
    package enum Detail: Sendable {
        /// Counters only.
        case counters
        /// The cycles, the first 100,000 of them.
        case cycles
        /// One cycle, with everything that a test run's record holds: the latest, or the latest of a schedule.
        case testRun(scheduleId: String?)
    }

    /// How many cycles are listed at most.
    package static let listedCycles = 100_000
    /// How many unrecognised lines of an input are explained at most.
    package static let explainedLines = 1_000

    /// What is known of each cycle in the end.
    package var detail = Detail.cycles
    /// Whether the first unrecognised lines are kept.
    package var explains = false

    let format: LineFormat

    /// - Parameter format: the form of lines that do not say it themselves.
    package init(_ format: LineFormat) {
        self.format = format
    }

    /// How the lines of every input are read.
    var lines: LogDecoderOptions {
        var lines = format.decoderOptions
        lines.reportsUntimedLines = detail.isTestRun
        lines.unrecognisedLimit = explains ? Self.explainedLines : 0
        return lines
    }
}
