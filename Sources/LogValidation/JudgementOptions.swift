// SPDX-License-Identifier: Apache-2.0

package import LogInput
package import TelemetryEvents

/// How inputs are judged.
package struct JudgementOptions: Sendable {
    /// What is kept of each cycle.
    package enum Detail: Sendable {
        /// Counters only.
        case counters
        /// The cycles, the first 100,000 of them.
        case cycles
        /// The cycles, the newest 1,000 of them, with the details of a test run's record: all, or those of a schedule.
        case testRun(scheduleId: String?)
    }

    /// The maximum number of listed cycles.
    static let listedCycles = 100_000
    /// The maximum number of cycles of which records are written.
    static let recordedCycles = 1_000
    /// The maximum number of listed rejected events.
    static let listedRejections = 1_000
    /// The maximum number of explained lines of an input.
    static let explainedLines = 1_000

    /// The apps whose events are judged.
    package var apps: Set<App> = Set(App.allCases)
    /// Whether the lines are of a simulator, where that is known.
    package var isSimulator: Bool?
    /// Whether the logs are excerpts, so that what lies before the beginning of one is not missing.
    package var isExcerpt = false
    /// The plugin's schedule, which the cycles are held against.
    package var planned: PlannedSchedules?
    /// Is told each stage as it is read, where the input is live.
    package var observer: (@Sendable (StageNotice) -> Void)?
    /// What is kept of each cycle.
    package var detail = Detail.cycles
    /// Whether to keep the first unrecognised lines.
    package var explains = false
    /// Whether all inputs are parts of one device's log, in their order.
    package var joins = false

    let format: LineFormat

    /// - Parameter format: the format of lines that do not identify it themselves.
    package init(_ format: LineFormat) {
        self.format = format
    }

    /// The decoder's options for every input.
    var lines: LogDecoderOptions {
        var lines = format.decoderOptions
        lines.reportsPlaces = detail.needsCycles
        // What a cycle keeps once it keeps in milliseconds.
        lines.untimedStep = 1_000
        lines.isSimulator = isSimulator
        lines.isOneDevice = true
        lines.unrecognisedLimit = explains ? Self.explainedLines : 0
        return lines
    }
}

extension JudgementOptions.Detail {
    var needsCycles: Bool {
        if case .counters = self { false } else { true }
    }

    var isTestRun: Bool {
        if case .testRun = self { true } else { false }
    }
}
