// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// How inputs are judged.
public struct JudgementOptions: Sendable {
    /// What is known of each cycle in the end.
    public enum Detail: Sendable {
        /// Counters only.
        case counters
        /// The cycles, the first 100,000 of them.
        case cycles
        /// One cycle, with everything that a test run's record holds: the latest, or the latest of a schedule.
        case testRun(scheduleId: String?)
    }

    /// The words for the forms of lines (SPEC 3.3).
    public static let inputFormats = LogWrapper.allCases.map(\.rawValue)
    /// How many cycles are listed at most.
    public static let listedCycles = 100_000
    /// How many unrecognised lines of an input are explained at most.
    public static let explainedLines = 1_000

    /// What is known of each cycle in the end.
    public var detail = Detail.cycles
    /// Whether the first unrecognised lines are kept.
    public var explains = false

    var wrapper: LogWrapper?
    var zone: ZoneOffsets

    /// How lines are read that say nothing about it themselves.
    ///
    /// - Parameters:
    ///   - inputFormat: one of `inputFormats`; nil: told apart line by line.
    ///   - timezone: the zone of stamps that name none, as in "Europe/Berlin"; nil: the machine's.
    public init(inputFormat: String? = nil, timezone: String? = nil) throws(UnknownOption) {
        if let inputFormat {
            do throws(SettingComplaint) {
                wrapper = try SettingText.choice(inputFormat, LogWrapper.allCases)
            } catch {
                throw UnknownOption("--input-format: \(error.message)")
            }
        }
        do throws(UnknownZone) {
            zone = try timezone.map { name throws(UnknownZone) in try ZoneOffsets(named: name) } ?? .machine
        } catch {
            throw UnknownOption("\(error)")
        }
    }
}

/// A value of an option that means nothing.
public struct UnknownOption: Error, CustomStringConvertible {
    /// What was expected and what was found.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
