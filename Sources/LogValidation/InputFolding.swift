// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import PrefetchLifecycle
internal import Synchronization
internal import TelemetryEvents

/// Folds the events of inputs: the step between binding and listing, on a thread of its own.
///
/// Cycles are of one installation, so the events of many are folded in shards that share nothing, by all cores. A log of
/// one device is one shard.
struct InputFolding {
    /// As many on every machine, so that what the limits of a fold leave out does not depend on it.
    private static let shardCount = 4

    private let shards: [FoldingShard]
    /// Whether the plugin's events are judged.
    private let judgesPlugin: Bool

    /// - Parameter openCycles: the maximum number of open cycles of a shard.
    init(_ options: JudgementOptions, _ key: IdentityKey, openCycles: Int) {
        judgesPlugin = options.apps.contains(.dnp)
        shards = (0..<Self.shardCount).map { _ in FoldingShard(options, key, openCycles: openCycles) }
    }

    /// Folds the events of a piece, if it has any.
    func fold(_ piece: BoundPiece, readAt: Timestamp) -> FoldedPiece {
        guard judgesPlugin, case .events(let decoded) = piece else { return .piece(piece, FoldedEvents()) }
        let events = decoded.events
        let places = events.installations.map { Int(truncatingIfNeeded: $0 % UInt64(Self.shardCount)) }
        guard let first = places.first, places.contains(where: { $0 != first }) else {
            return .piece(piece, shards[places.first ?? 0].fold(Part(decoded), readAt))
        }
        let parts = Self.divide(decoded, places)
        let shards = shards
        let folded = Mutex([FoldedEvents](repeating: FoldedEvents(), count: Self.shardCount))
        DispatchQueue.concurrentPerform(iterations: Self.shardCount) { place in
            let part = shards[place].fold(parts[place], readAt)
            folded.withLock { $0[place] = part }
        }
        return .piece(piece, FoldedEvents(folded.withLock { $0 }, places))
    }

    /// The events of each shard.
    private static func divide(_ decoded: DecodedEvents, _ places: [Int]) -> [Part] {
        let events = decoded.events
        let bytes = events.bytes
        let hashes = decoded.hashes
        var parts = (0..<shardCount).map { _ in Part(reserving: bytes.count / 2) }
        var first = 0
        while first < places.count {
            // Events of one installation mostly come together.
            let end = places[first...].firstIndex { $0 != places[first] } ?? places.count
            let records = events.record(at: first).lowerBound..<events.record(at: end - 1).upperBound
            parts[places[first]].records.append(contentsOf: bytes[records])
            if hashes.count > 0 { parts[places[first]].hashes.append(contentsOf: hashes, first..<end) }
            first = end
        }
        return parts
    }

    /// Events, as far as they are folded.
    fileprivate struct Part: Sendable {
        var records: [UInt8] = []
        var hashes = EventHashes()

        init(reserving bytes: Int) { records.reserveCapacity(bytes) }

        init(_ decoded: DecodedEvents) {
            records = decoded.events.bytes
            hashes = decoded.hashes
        }
    }

    /// Closes the cycles that are open at the end of the inputs.
    func finish() -> FoldedPiece {
        let heard = shards.map(\.latest).max() ?? .earliestAccepted
        let shards = shards
        DispatchQueue.concurrentPerform(iterations: Self.shardCount) { shards[$0].finish(heardUntil: heard) }
        return .end(shards.map(\.whole))
    }
}

/// A piece of an input whose events are folded.
enum FoldedPiece: Sendable {
    case piece(BoundPiece, FoldedEvents)
    /// The end of all inputs, with the folds and the last closed cycles in them.
    case end([LifecycleFold])
}

/// What came of the events of a piece.
struct FoldedEvents: Sendable {
    /// The hash of each event's schedule, 0 without one; none where no cycles are listed.
    var schedules: [UInt64] = []
    /// The cycles that closed, in the order of closing.
    var closed: [ClosedCycle] = []
    /// Whether other apps' events are among them.
    var hasOtherEvents = false

    init() {}

    /// What came of all shards.
    ///
    /// - Parameter places: the shard of each event.
    fileprivate init(_ parts: [FoldedEvents], _ places: [Int]) {
        closed = parts.flatMap(\.closed)
        hasOtherEvents = parts.contains(where: \.hasOtherEvents)
        guard parts.contains(where: { !$0.schedules.isEmpty }) else { return }
        var next = parts.map(\.schedules.startIndex)
        schedules = places.map { place in
            defer { next[place] += 1 }
            return next[place] < parts[place].schedules.endIndex ? parts[place].schedules[next[place]] : 0
        }
    }
}

/// A fold with the events of its own installations.
private final class FoldingShard: Sendable {
    private let detail: JudgementOptions.Detail
    private let fold: Mutex<LifecycleFold>

    init(_ options: JudgementOptions, _ key: IdentityKey, openCycles: Int) {
        var limits = LifecycleLimits()
        limits.openCycles = openCycles
        detail = options.detail
        var fold = LifecycleFold(
            key: key,
            limits: limits,
            keepsClosedCycles: detail.needsCycles,
            deduplicates: false,
            isReceiver: false
        )
        fold.assumedSimulator = options.isSimulator
        self.fold = Mutex(fold)
    }

    func fold(_ part: InputFolding.Part, _ readAt: Timestamp) -> FoldedEvents {
        fold.withLock { fold in
            var folded = FoldedEvents()
            let others = fold.otherEvents
            if detail.needsCycles {
                try? fold.apply(part.records.span, part.hashes, receivedAt: readAt) { _, schedule in
                    folded.schedules.append(schedule ?? 0)
                }
                folded.closed = fold.takeClosedCycles()
            } else {
                try? fold.apply(part.records.span, part.hashes, receivedAt: readAt)
            }
            folded.hasOtherEvents = fold.otherEvents != others
            return folded
        }
    }

    var latest: Timestamp { fold.withLock { $0.latest } }
    var whole: LifecycleFold { fold.withLock { $0 } }

    func finish(heardUntil heard: Timestamp) {
        fold.withLock { $0.finish(heardUntil: heard) }
    }
}
