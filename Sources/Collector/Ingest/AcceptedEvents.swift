// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The new events of a submission. As long as it has no duplicate, the decoded bytes are used without a copy.
struct AcceptedEvents {
    private let batch: EventBatch
    private let identities: [UInt64]
    private var kept: [UInt8]?
    private(set) var count: Int
    private(set) var duplicates = 0

    init(_ decoded: DecodedEvents) {
        batch = decoded.events
        identities = decoded.identities
        count = batch.count
    }

    /// The records of the new events.
    var bytes: [UInt8] { kept ?? batch.bytes }

    /// Counts all events as duplicates.
    mutating func refuseAll() {
        duplicates = batch.count
        count = 0
        kept = []
    }

    /// Drops events that are known or occur twice in the group.
    mutating func deduplicate(with fold: inout LifecycleFold) {
        guard count > 0 else { return }
        for (index, identity) in identities.enumerated() {
            if fold.propose(identity) {
                kept?.append(contentsOf: batch.bytes[batch.record(at: index)])
            } else {
                if kept == nil { kept = Array(batch.bytes[..<batch.record(at: index).lowerBound]) }
                duplicates += 1
                count -= 1
            }
        }
    }
}
