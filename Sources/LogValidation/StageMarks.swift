// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TextOutput

/// Whether a cycle reached a stage: what the table of `validate` shows.
enum StageMark: String {
    /// It did.
    case reached = "✓"
    /// It did not, and should have.
    case missing = "✗"
    /// It did not, or nothing tells.
    case open = "·"

    var colour: TextStyle.Colour {
        switch self {
        case .reached: .good
        case .missing: .bad
        case .open: .quiet
        }
    }
}

extension ClosedCycle {
    /// The columns of the marks.
    static let stageColumns = ["scheduled", "executed", "success", "used", "delivered"]

    /// A mark for each column.
    ///
    /// A stage that a later one presupposes is missing when it was not told of; so are the success of a failed fetch, the
    /// execution of a missed one, and the use where something else was delivered.
    var stageMarks: [StageMark] {
        let hasResult = stages.success != nil || stages.failure != nil
        let isUsed = stages.used != nil || outcome == .used
        return [
            mark(stages.scheduled != nil, isExpected: stages.executed != nil),
            mark(stages.executed != nil, isExpected: hasResult || outcome == .missed),
            mark(stages.success != nil, isExpected: stages.failure != nil || isUsed),
            mark(isUsed, isExpected: stages.delivered != nil),
            mark(stages.delivered != nil, isExpected: false),
        ]
    }

    private func mark(_ isReached: Bool, isExpected: Bool) -> StageMark {
        isReached ? .reached : isExpected ? .missing : .open
    }
}
