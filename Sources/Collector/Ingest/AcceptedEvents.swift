// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The events of a submission that are new. While there is no duplicate the decoded bytes are used as they are.
struct AcceptedEvents {
    private let batch: EventBatch
    private var kept: [UInt8]?
    private(set) var count: Int
    private(set) var duplicates = 0

    init(_ batch: EventBatch) {
        self.batch = batch
        count = batch.count
    }

    /// The records of the new events.
    var bytes: [UInt8] { kept ?? batch.bytes }

    /// Takes all for duplicates.
    mutating func refuseAll() {
        duplicates = batch.count
        count = 0
        kept = []
    }

    /// Leaves out what is known or stands twice in the group.
    mutating func deduplicate(with key: IdentityKey, _ fold: inout LifecycleFold) {
        guard count > 0 else { return }
        let records = batch.bytes
        var cursor = EventCursor()
        for index in 0..<batch.count {
            guard let event = try? cursor.next(in: records.span) else { return }
            if fold.propose(key.identity(of: event, in: records.span)) {
                kept?.append(contentsOf: records[batch.record(at: index)])
            } else {
                if kept == nil { kept = Array(records[..<batch.record(at: index).lowerBound]) }
                duplicates += 1
                count -= 1
            }
        }
    }
}
