// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Event records")
struct EventRecordTests {
    let bytes = decode(
        event(
            with: #""scheduledFor":"2025-11-15T05:53:00Z","error":"E","telemetry":{"dnp_prefetch_success_total":300}"#
        )
    ).events.bytes

    @Test("a truncated event record is an error at every length")
    func truncatedRecordIsAnError() {
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

    @Test("an event record with any byte changed reads as an event or an error")
    func damagedRecordIsAnEventOrAnError() {
        for index in bytes.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] ^= change
                var cursor = EventCursor()
                while let event = try? cursor.next(in: damaged.span) {
                    var line: [UInt8] = []
                    CanonicalJSON.append(event, in: damaged.span, to: &line)
                    #expect(line.first == UInt8(ascii: "{") && line.last == UInt8(ascii: "}"))
                }
            }
        }
    }

    @Test("a batch knows the byte range of each record")
    func batchKnowsRecordRanges() throws {
        let batch = decode("[\(event(with: #""ttl":1"#)),\(event(with: #""bytes":5"#))]").events
        #expect(batch.count == 2)
        #expect(batch.record(at: 0).lowerBound == 0)
        #expect(batch.record(at: 1) == batch.record(at: 0).upperBound..<batch.bytes.count)
    }

    @Test("a batch without some events has the records of the others in their order")
    func batchWithoutSomeEvents() {
        let events = (1...4).map { event(with: "\"ttl\":\($0)") }
        let batch = decode("[\(events.joined(separator: ","))]").events
        #expect(batch.count == 4)
        for subset in 0..<16 {
            let dropped = (0..<4).filter { subset >> $0 & 1 != 0 }
            let kept = (0..<4).filter { !dropped.contains($0) }.flatMap { batch.bytes[batch.record(at: $0)] }
            #expect(batch.bytes(without: dropped) == kept, "without \(dropped)")
        }
    }
}

@Suite("Round trips of events through their records")
struct EventRoundTripTests {
    /// Numbers at which the encoded length changes, and the limits.
    static let boundaryNumbers: [Int64] =
        [0, -1, .min, .max] + (1..<63).flatMap { [1 << $0 - 1, 1 << $0, -(1 << $0)] }
    static let lengths = Array(0...18) + [63, 64, 127, 128, 129, 16_383, 16_384]

    @Test("every number survives an event record, including the limits of its encoding", arguments: boundaryNumbers)
    func numbersSurviveARecord(_ number: Int64) throws {
        let again = try throughRecord { event, _ in
            event.duration = number
            event.ttl = number
            event.status = number
            event.byteCount = number
            event.itemCount = number
            event.age = number
            event.clockSkew = number
        }
        for value in [
            again.event.duration, again.event.ttl, again.event.status, again.event.byteCount, again.event.itemCount,
            again.event.age, again.event.clockSkew,
        ] { #expect(value == number) }
        #expect(again.event.scheduledFor == nil)
        #expect(again.event.installation == nil)
    }

    @Test("every text survives an event record, whatever its length and offset", arguments: lengths)
    func textsSurviveARecord(_ length: Int) throws {
        let again = try throughRecord { event, texts in
            func text(_ first: UInt8) -> Event.Text {
                let start = texts.count
                for index in 0..<length { texts.append(first &+ UInt8(truncatingIfNeeded: index)) }
                return start..<texts.count
            }
            event.scheduleId = text(1)
            event.eventId = text(2)
            event.error = text(3)
            event.contentHash = text(4)
            event.scheduleHash = text(5)
            event.platform = text(6)
            event.appVersion = text(7)
            event.osVersion = text(8)
            event.deviceModel = text(9)
            event.clientCounters = text(10)
        }
        let found = [
            again.event.scheduleId, again.event.eventId, again.event.error, again.event.contentHash,
            again.event.scheduleHash, again.event.platform, again.event.appVersion, again.event.osVersion,
            again.event.deviceModel, again.event.clientCounters,
        ]
        for (index, text) in found.enumerated() {
            let expected = (0..<length).map { UInt8(index + 1) &+ UInt8(truncatingIfNeeded: $0) }
            #expect(Array(again.bytes[text]) == expected)
        }
    }

    @Test("a flag survives an event record as true, false or absent", arguments: [true, false, nil])
    func flagsSurviveARecord(_ flag: Bool?) throws {
        let again = try throughRecord { event, _ in
            event.willRetry = flag
            event.usedCached = flag
            event.isTimeAssumed = flag ?? false
        }
        #expect(again.event.willRetry == flag)
        #expect(again.event.fetched == nil)
        #expect(again.event.usedCached == flag)
        #expect(again.event.isTimeAssumed == (flag ?? false))
    }

    @Test("times, reason and installation survive an event record")
    func timesAndReasonSurviveARecord() throws {
        let latest = Timestamp(microseconds: 253_402_300_799_999_999)
        let again = try throughRecord { event, _ in
            event.timestamp = Timestamp(microseconds: 0)
            event.scheduledFor = latest
            event.earliestBeginDate = Timestamp(microseconds: 1)
            event.reason = .system
            event.installation = Pseudonym(high: .max, low: 1)
        }
        #expect(again.event.timestamp == Timestamp(microseconds: 0))
        #expect(again.event.scheduledFor == latest)
        #expect(again.event.earliestBeginDate == Timestamp(microseconds: 1))
        #expect(again.event.reason == .system)
        #expect(again.event.installation == Pseudonym(high: .max, low: 1))
    }

    @Test("a batch knows the installation of each event, whatever stands before it", arguments: 0..<64)
    func installationsOfABatch(fields: Int) {
        var batch = EventBatch()
        for high in [UInt64?.none, 1, .max] {
            var event = Event(kind: .prefetchScheduled, timestamp: Timestamp(seconds: 1_763_185_000))
            if fields & 1 != 0 { event.scheduledFor = Timestamp(microseconds: 253_402_300_799_999_999) }
            if fields & 2 != 0 { event.earliestBeginDate = Timestamp(microseconds: 0) }
            if fields & 4 != 0 { (event.duration, event.byteCount) = (.max, 1 << 40) }
            if fields & 8 != 0 { (event.ttl, event.status, event.itemCount) = (86_400, 304, 3) }
            if fields & 16 != 0 { event.age = 7 }
            if fields & 32 != 0 { event.reason = .auth }
            event.installation = high.map { Pseudonym(high: $0, low: 2) }
            event.clockSkew = 9
            let texts: [UInt8] = []
            batch.append(event, texts: texts.span)
        }
        let expected = [0] + [UInt64(1), .max].map { Pseudonym(high: $0, low: 2).fingerprint }
        #expect(batch.installations == expected)
    }

    @Test("a removed field is absent, and a reused event keeps nothing of the previous one")
    func removedFieldIsAbsent() throws {
        let full = try throughRecord { event, texts in
            texts = Array("text".utf8)
            event.scheduleId = 0..<4
            event.ttl = 1
            event.reason = .auth
            event.willRetry = true
        }
        var event = full.event
        event.ttl = nil
        event.reason = nil
        event.willRetry = nil
        event.scheduleId = 0..<0
        var batch = EventBatch()
        batch.append(event, texts: full.bytes.span)
        let bare = try throughRecord { _, _ in }
        #expect(batch.bytes == bare.bytes)

        var cursor = EventCursor()
        var again = full.event
        #expect(try cursor.next(into: &again, in: bare.bytes.span))
        #expect(again.scheduleId.isEmpty)
        #expect(again.ttl == nil)
        #expect(again.reason == nil)
        #expect(again.willRetry == nil)
    }

    @Test("a text beyond the 32-bit range of a record is absent")
    func textBeyond32BitsIsAbsent() {
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        event.error = Int.max - 1..<Int.max
        #expect(event.error.isEmpty)
        event.error = -2..<2
        #expect(event.error.isEmpty)
    }

    @Test("an event is small enough to be copied often")
    func eventSizeIsBounded() {
        #expect(MemoryLayout<Event>.size <= 208)
    }

    /// Writes and reads an event, both before and after another one.
    private func throughRecord(
        _ fill: (inout Event, inout [UInt8]) -> Void
    ) throws -> (event: Event, bytes: [UInt8]) {
        var event = Event(kind: .prefetchSuccess, timestamp: received)
        var texts: [UInt8] = []
        fill(&event, &texts)
        var batch = EventBatch()
        for _ in 0..<3 { batch.append(event, texts: texts.span) }
        #expect(batch.bytes[batch.record(at: 0)] == batch.bytes[batch.record(at: 2)])
        let last = Array(batch.bytes[batch.record(at: 2)])
        for bytes in [batch.bytes, last] {
            var cursor = EventCursor()
            while try cursor.next(in: bytes.span) != nil {}
            #expect(cursor.offset == bytes.count)
        }
        var cursor = EventCursor()
        return (try #require(try cursor.next(in: last.span)), last)
    }
}
