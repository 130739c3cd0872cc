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
            ReadableEvents.check(batch)
            checkTimes(batch)
            for event in CanonicalEvent.all(in: batch) { event.checkRoundTrip() }
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
