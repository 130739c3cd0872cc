// SPDX-License-Identifier: Apache-2.0

/// How a cycle ended: the first that holds, in this order (SPEC 5.1).
public enum CycleOutcome: UInt8, CaseIterable, Sendable {
    /// The notification used prefetched content.
    case used = 0
    /// The notification was delivered with content fetched on demand.
    case fallback = 1
    /// The prefetch failed for good and nothing was delivered.
    case failed = 2
    /// The task was scheduled and never executed, and its window is gone.
    case missed = 3
    /// None of these is known.
    case incomplete = 4

    /// The label value of `dnp_prefetch_cycles_total`.
    public var name: StaticString {
        switch self {
        case .used: "used"
        case .fallback: "fallback"
        case .failed: "failed"
        case .missed: "missed"
        case .incomplete: "incomplete"
        }
    }
}
