// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TextOutput

/// What at least one cycle must have come to: a stage or an outcome.
package enum Requirement: String, CaseIterable, Sendable {
    /// A task was scheduled.
    case scheduled
    /// A task was executed.
    case executed
    /// A fetch succeeded.
    case success
    /// A fetch failed for good.
    case failure
    /// A notification used prefetched content.
    case used
    /// A notification was delivered.
    case delivered
    /// A cycle ended as `fallback`.
    case fallback
    /// A cycle ended as `failed`.
    case failed
    /// A cycle ended as `missed`.
    case missed
    /// A cycle ended as `incomplete`.
    case incomplete

    /// Reads names that are separated by commas; nil when one of them is none, or none is there.
    package static func list(_ text: String) -> [Requirement]? {
        var list: [Requirement] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let requirement = Requirement(rawValue: part.trimmed.lowercased()) else { return nil }
            list.append(requirement)
        }
        return list
    }

    /// What is said when no cycle has come to it.
    package var unmetSentence: String {
        switch self {
        case .scheduled: "no cycle was scheduled"
        case .executed: "no cycle was executed"
        case .success: "no cycle's fetch succeeded"
        case .failure: "no cycle's fetch failed"
        case .used: "no cycle's content was used for its notification"
        case .delivered: "no cycle's notification was delivered"
        case .fallback, .failed, .missed, .incomplete: "no cycle ended as \(rawValue)"
        }
    }

    func isMet(by cycle: ClosedCycle) -> Bool {
        switch self {
        case .scheduled: cycle.stages.scheduled != nil
        case .executed: cycle.stages.executed != nil
        case .success: cycle.stages.success != nil
        case .failure: cycle.stages.failure != nil
        case .used: cycle.stages.used != nil || cycle.outcome == .used
        case .delivered: cycle.stages.delivered != nil
        case .fallback: cycle.outcome == .fallback
        case .failed: cycle.outcome == .failed
        case .missed: cycle.outcome == .missed
        case .incomplete: cycle.outcome == .incomplete
        }
    }
}
