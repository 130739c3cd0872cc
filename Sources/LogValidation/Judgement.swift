// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// What device logs or events come to: cycles, counters, lines and the verdict.
package struct Judgement: Sendable {
    /// The cycles, by notification time.
    var cycles: [JudgedCycle] = []
    /// How many more cycles there are than are listed.
    var omittedCycles: UInt64 = 0
    /// What the fold has counted.
    var totals = LifecycleTotals()
    /// The same by platform and app version.
    var groups: [LifecycleGroup] = []
    /// How many events were told, those that belong to no cycle included.
    var events: UInt64 = 0
    /// What each input held, in their order.
    var inputs: [JudgedInput] = []
    /// What at least one cycle came to.
    var reached: Set<Requirement> = []
    /// The device as any event describes it.
    var device = DeviceNames()

    init() {}

    /// The verdict.
    ///
    /// - Parameter strict: whether rules of bucket B count like those of bucket A.
    package func verdict(strict: Bool = false) -> Verdict {
        if closedCycles == 0 { return .empty }
        return faultCount(strict: strict) == 0 ? .coherent : .incoherent
    }

    /// What the verdict `empty` comes from.
    var emptySentence: String {
        switch events {
        case 0: "the input holds no lifecycle event"
        case 1: "the input holds one event, which opens no cycle"
        default: "the input holds \(events) events, none of which opens a cycle"
        }
    }

    /// Those of the requirements that no cycle meets.
    package func unmet(_ requirements: [Requirement]) -> [Requirement] {
        requirements.filter { !reached.contains($0) }
    }

    /// How many lines nothing recognised.
    package var unrecognisedLines: UInt64 { lines.unrecognised }

    var lines: LogLineCounts {
        var sum = LogLineCounts()
        for input in inputs {
            sum.read += input.lines.read
            sum.recognised += input.lines.recognised
            sum.foreign += input.lines.foreign
            sum.unrecognised += input.lines.unrecognised
        }
        return sum
    }

    var closedCycles: UInt64 { UInt64(cycles.count) + omittedCycles }

    /// How many broken rules make it incoherent.
    func faultCount(strict: Bool) -> UInt64 {
        ViolationKind.allCases.reduce(0) { $1.bucket.isFault(strict: strict) ? $0 + totals.violations($1) : $0 }
    }
}

/// What one input held.
struct JudgedInput: Sendable {
    /// As it was named; "standard input" for `-`.
    var name: String
    /// Its lines; in a JSON document each event counts as one.
    var lines = LogLineCounts()
    /// Lines that nothing recognised, the first of them.
    var unrecognised: [UnexplainedLine] = []
}

/// A line that nothing recognised, as it may be shown.
struct UnexplainedLine: Sendable {
    /// Its number, from 1; in a JSON document the event's.
    var number: UInt64
    /// What it says, redacted; empty where that cannot be shown.
    var text: String
    /// What was expected.
    var why: String
}
