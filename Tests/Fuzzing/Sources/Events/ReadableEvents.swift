// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What holds of all decoded events.
enum ReadableEvents {
    /// Every event can be read back and has an identity.
    static func check(_ batch: DecodedEvents) {
        var cursor = EventCursor()
        var readable = 0
        do throws(EventRecordError) {
            while let event = try cursor.next(in: batch.events.bytes.span) {
                readable += 1
                if event.kind.belongsToCycle, event.scheduleId.isEmpty, event.scheduledFor == nil {
                    finding("\(event.kind) of no cycle")
                }
            }
        } catch {
            finding("an event cannot be read back: \(error)")
        }
        guard readable == batch.events.count, batch.identities.count == readable else {
            finding("\(batch.events.count) events, \(readable) readable, \(batch.identities.count) identities")
        }
    }
}
