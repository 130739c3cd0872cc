// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The new events of a submission. As long as it has no duplicate, the decoded bytes are used without a copy.
struct AcceptedEvents {
    private let batch: EventBatch
    private let allHashes: EventHashes
    /// The events as an earlier version took them; nil where it took none that this one takes in another way.
    private let earlier: EventBatch?
    private var kept: (bytes: [UInt8], hashes: EventHashes)?
    private(set) var count: Int
    private(set) var duplicates = 0

    /// - Parameter earlier: the same events as an earlier version took them; nil if in the same way.
    init(_ decoded: DecodedEvents, earlier: DecodedEvents? = nil) {
        assert(decoded.hashes.count == decoded.events.count, "events without identities cannot be told from duplicates")
        batch = decoded.events
        allHashes = decoded.hashes
        let hasReplacedIds = decoded.altered[.scheduleId] > 0 || decoded.altered[.eventId] > 0
        self.earlier =
            if let earlier, earlier.events.count == decoded.events.count {
                earlier.events
            } else {
                hasReplacedIds ? decoded.events : nil
            }
        count = batch.count
    }

    /// The records of the new events.
    var bytes: [UInt8] { kept?.bytes ?? batch.bytes }
    /// Their hashes.
    var hashes: EventHashes { kept?.hashes ?? allHashes }

    /// Counts all events as duplicates.
    mutating func refuseAll() {
        duplicates = batch.count
        count = 0
        kept = ([], EventHashes())
    }

    /// Drops events that are known or occur twice in the group.
    mutating func deduplicate(with fold: inout LifecycleFold) {
        guard count > 0 else { return }
        let identities = allHashes.identities
        var dropped = fold.propose(identities)
        if earlier != nil, fold.remembersEarlierIdentities {
            let known = Set(dropped)
            dropped = identities.indices.filter { known.contains($0) || isKnownEarlier($0, fold) }
        }
        guard !dropped.isEmpty else { return }
        kept = (batch.bytes(without: dropped), allHashes.without(dropped))
        duplicates += dropped.count
        count -= dropped.count
    }

    /// Counts the events that `deduplicate(with:)` would drop, and leaves the fold as it is.
    mutating func countDuplicates(of fold: LifecycleFold) {
        guard count > 0 else { return }
        let looksBack = earlier != nil && fold.remembersEarlierIdentities
        var seen: Set<UInt64> = []
        for (index, identity) in allHashes.identities.enumerated() {
            let isKnown = fold.isKnown(identity) || !seen.insert(identity).inserted
            guard isKnown || (looksBack && isKnownEarlier(index, fold)) else { continue }
            duplicates += 1
            count -= 1
        }
    }

    /// Whether an earlier version accepted an event and remembered it under another identity.
    private func isKnownEarlier(_ index: Int, _ fold: LifecycleFold) -> Bool {
        guard let earlier, index < earlier.count else { return false }
        let bytes = earlier.bytes
        let record = bytes.span.extracting(earlier.record(at: index))
        var cursor = EventCursor()
        guard let event = try? cursor.next(in: record) else { return false }
        return fold.isKnownEarlier(event, in: record)
    }
}
