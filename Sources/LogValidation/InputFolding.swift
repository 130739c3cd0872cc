// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// Folds the events of inputs: the step between binding and listing, on a thread of its own.
struct InputFolding {
    private var fold: LifecycleFold
    private let folds: Bool
    private let detail: JudgementOptions.Detail

    /// - Parameter openCycles: the maximum number of open cycles.
    init(_ options: JudgementOptions, _ key: IdentityKey, openCycles: Int) {
        var limits = LifecycleLimits()
        limits.openCycles = openCycles
        detail = options.detail
        folds = options.apps.contains(.dnp)
        fold = LifecycleFold(
            key: key,
            limits: limits,
            keepsClosedCycles: detail.needsCycles,
            deduplicates: false,
            isReceiver: false
        )
        fold.assumedSimulator = options.isSimulator
    }

    /// Folds the events of a piece, if it has any.
    mutating func fold(_ piece: BoundPiece, readAt: Timestamp) -> FoldedPiece {
        guard folds, case .events(let decoded) = piece else { return .piece(piece, FoldedEvents()) }
        var folded = FoldedEvents()
        let others = fold.otherEvents
        if detail.needsCycles {
            folded.schedules.reserveCapacity(decoded.events.count)
            try? fold.apply(decoded.events.bytes.span, receivedAt: readAt) { _, schedule in
                folded.schedules.append(schedule ?? 0)
            }
            folded.closed = fold.takeClosedCycles()
        } else {
            try? fold.apply(decoded.events.bytes.span, receivedAt: readAt)
        }
        folded.hasOtherEvents = fold.otherEvents != others
        return .piece(piece, folded)
    }

    /// Closes the cycles that are open at the end of the inputs.
    consuming func finish() -> FoldedPiece {
        fold.finish()
        return .end(fold)
    }
}

/// A piece of an input whose events are folded.
enum FoldedPiece: Sendable {
    case piece(BoundPiece, FoldedEvents)
    /// The end of all inputs, with the fold and the last closed cycles in it.
    case end(LifecycleFold)
}

/// What came of the events of a piece.
struct FoldedEvents: Sendable {
    /// The hash of each event's schedule, 0 without one; none where no cycles are listed.
    var schedules: [UInt64] = []
    /// The cycles that closed, in the order of closing.
    var closed: [ClosedCycle] = []
    /// Whether other apps' events are among them.
    var hasOtherEvents = false
}
