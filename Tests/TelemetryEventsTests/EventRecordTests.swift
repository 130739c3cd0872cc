// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Compact records")
struct EventRecordTests {
    let bytes = decode(
        event(
            with: #""scheduledFor":"2025-11-15T05:53:00Z","error":"E","telemetry":{"dnp_prefetch_success_total":300}"#
        )
    ).events.bytes

    @Test("a record cut anywhere is an error, never a trap")
    func cut() {
        for length in 1..<bytes.count {
            let part = Array(bytes.prefix(length))
            #expect(throws: EventRecordError.self) {
                var cursor = EventCursor()
                while let event = try cursor.next(in: part.span) {
                    try event.forEachClientCounter(in: part.span) { _, _ in }
                }
            }
        }
    }

    @Test("a record with any byte changed is an event or an error, never a trap")
    func damaged() {
        for index in bytes.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] ^= change
                var cursor = EventCursor()
                while let event = try? cursor.next(in: damaged.span) {
                    var line: [UInt8] = []
                    CanonicalJSON.append(event, in: damaged.span, to: &line)
                }
            }
        }
    }

    @Test("the batch knows where each record stands")
    func records() throws {
        let batch = decode("[\(event(with: #""ttl":1"#)),\(event(with: #""bytes":5"#))]").events
        #expect(batch.count == 2)
        #expect(batch.record(at: 0).lowerBound == 0)
        #expect(batch.record(at: 1) == batch.record(at: 0).upperBound..<batch.bytes.count)
    }
}
