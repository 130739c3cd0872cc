// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What holds of every reading, whatever is in the log.
enum ReadingInvariants {
    static func check(_ reading: LogReading) {
        let lines = reading.lines
        guard lines.read == lines.recognised + lines.foreign + lines.unrecognised else {
            finding("lines that are nothing: \(lines)")
        }
        for batch in reading.batches {
            checkReadable(batch)
            checkTimes(batch)
            for event in CanonicalEvent.all(in: batch) { event.checkRoundTrip() }
        }
    }

    /// Every event can be read back and has an identity.
    static func checkReadable(_ batch: DecodedEvents) {
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

    /// The accepted range: from 2020 to 48 hours after the reading time.
    private static func checkTimes(_ batch: DecodedEvents) {
        var cursor = EventCursor()
        while let event = try? cursor.next(in: batch.events.bytes.span) {
            let lead = event.timestamp.microseconds - receivedAt.microseconds
            guard event.timestamp >= .earliestAccepted, lead <= Timestamp.acceptedLead else {
                finding("an event at \(event.timestamp)")
            }
        }
    }
}
