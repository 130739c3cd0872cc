// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Steps of a delivery session")
struct DeliverySessionTests {
    static let second: UInt64 = 1_000_000_000

    static func limits(_ adjust: (inout JournalDeliveryConfiguration) -> Void = { _ in }) -> DeliveryLimits {
        var configuration = JournalDeliveryConfiguration(
            identifier: "test",
            streamField: "STREAM",
            stream: "s",
            sequenceField: "SEQ"
        )
        configuration.windowEntries = 10
        configuration.entriesPerDatagram = 4
        adjust(&configuration)
        return DeliveryLimits(configuration)
    }

    static func buffer(_ sequences: [UInt64], length: Int = 1) throws -> JournalEntryBuffer {
        var buffer = JournalEntryBuffer()
        for sequence in sequences {
            try buffer.append(sequence: sequence) { $0.append(.message, String(repeating: "x", count: length)) }
        }
        return buffer
    }

    /// A session that has found its markers and scanned a journal with the given entries.
    static func streaming(
        confirmed: UInt64 = 0,
        standing: [UInt64] = [],
        batching: Bool = true,
        limits: DeliveryLimits = limits()
    ) -> DeliverySession {
        var session = DeliverySession(limits: limits, confirmed: confirmed, seed: 1)
        synchronise(&session, standing: standing, batching: batching, now: 0)
        return session
    }

    static func synchronise(
        _ session: inout DeliverySession,
        standing: [UInt64] = [],
        batching: Bool = true,
        now: UInt64
    ) {
        #expect(session.step(now: now) == .connect)
        session.connected(now: now)
        #expect(session.step(now: now) == .sendMarkers(.pair))
        session.markersSent(now: now)
        #expect(session.step(now: now) == .sendMarkers(.last))
        session.markersSent(now: now)
        #expect(session.step(now: now) == .pollForMarkers(until: now + 5 * second))
        session.markersFound(provesBatching: batching)
        #expect(session.step(now: now) == .scan)
        for sequence in standing { session.found(sequence) }
        session.scanned(now: now)
        #expect(session.state == .streaming)
    }

    @Test("no entry is sent before the markers are read back and the journal is scanned")
    func gate() throws {
        var session = DeliverySession(limits: Self.limits(), confirmed: 0, seed: 1)
        #expect(session.state == .synchronising)
        let buffer = try Self.buffer([1])
        var index = 0
        #expect(session.nextDatagram(in: buffer, from: &index) == nil)
        Self.synchronise(&session, now: 0)
        #expect(session.step(now: 0) == .deliver(entries: 10))
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<1)
    }

    @Test("a missing socket is retried with a backoff of up to two seconds")
    func absent() {
        var session = DeliverySession(limits: Self.limits(), confirmed: 0, seed: 1)
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        for _ in 0..<10 {
            #expect(session.step(now: now) == .connect)
            session.connectionFailed(now: now)
            #expect(session.state == .absent)
            guard case .wait(let until?, forWritable: false) = session.step(now: now) else {
                Issue.record("no pause")
                return
            }
            #expect(session.step(now: until - 1) == .wait(until: until, forWritable: false))
            pauses.append(until - now)
            now = until
        }
        #expect(pauses[0] <= Self.second / 10 && pauses[0] >= Self.second * 3 / 40)
        #expect((Self.second * 3 / 2...Self.second * 2).contains(pauses[9]))
        #expect(pauses[3] > pauses[1])
    }

    @Test("markers that are not read back are sent again with another number, after a pause")
    func lostMarkers() {
        var session = DeliverySession(limits: Self.limits(), confirmed: 0, seed: 1)
        _ = session.step(now: 0)
        session.connected(now: 0)
        session.markersSent(now: 0)
        session.markersSent(now: 7)
        #expect(session.step(now: 7) == .pollForMarkers(until: 5 * Self.second + 7))
        let attempt = session.attempt
        guard case .wait(let until?, forWritable: false) = session.step(now: 5 * Self.second + 7) else {
            Issue.record("no pause")
            return
        }
        #expect(session.state == .absent)
        #expect(session.step(now: until) == .connect)
        session.connected(now: until)
        #expect(session.attempt == attempt + 1)
        #expect(session.state == .absent)
        session.markersSent(now: until)
        session.markersSent(now: until)
        session.markersFound(provesBatching: true)
        #expect(session.state == .synchronising)
    }

    @Test("markers wait for a writable socket, and one that is writable late is used at once")
    func blockedMarkers() {
        var session = DeliverySession(limits: Self.limits(), confirmed: 0, seed: 1)
        _ = session.step(now: 0)
        session.connected(now: 0)
        session.markersSent(now: 0)
        session.markersBlocked()
        #expect(session.step(now: 1) == .wait(until: 5 * Self.second, forWritable: true))
        session.socketWritable()
        #expect(session.step(now: 2) == .sendMarkers(.last))
        session.markersBlocked()
        guard case .wait(_, forWritable: true) = session.step(now: 5 * Self.second) else {
            Issue.record("a pause that doesn't look for room")
            return
        }
        #expect(session.state == .absent)
        session.socketWritable()
        #expect(session.step(now: 6 * Self.second) == .connect)
    }

    @Test("a datagram holds one entry unless batching is proven")
    func batching() throws {
        let buffer = try Self.buffer([1, 2, 3, 4, 5, 6])
        var index = 0
        var session = Self.streaming(batching: false)
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<1)
        session = Self.streaming(batching: true)
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<4)
        #expect(session.snapshot.isBatchingProven)
    }

    @Test("a datagram ends at its limit of bytes, and a larger entry is sent alone")
    func datagramBytes() throws {
        let buffer = try Self.buffer([1, 2, 3], length: 50)
        var index = 0
        var session = Self.streaming(limits: Self.limits { $0.bytesPerDatagram = 130 })
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<2)
        session = Self.streaming(limits: Self.limits { $0.bytesPerDatagram = 10 })
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<1)
    }

    @Test("entries that the journal holds are not sent again, and those between them are sent")
    func standing() throws {
        var session = Self.streaming(confirmed: 10, standing: [15, 12, 13, 9, 3])
        #expect(session.snapshot.position == 10)
        #expect(session.snapshot.confirmed == 3)
        let buffer = try Self.buffer([11, 12, 13, 14, 15, 16])
        var index = 0
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<1)
        session.sent(11...11, bytes: 1, now: 0)
        index = 1
        #expect(session.nextDatagram(in: buffer, from: &index) == 3..<4)
        session.sent(14...14, bytes: 1, now: 0)
        index = 4
        #expect(session.nextDatagram(in: buffer, from: &index) == 5..<6)
        session.sent(16...16, bytes: 1, now: 0)
        session.readBack(11, now: 1)
        #expect(session.confirmed == 13)
        session.readBack(14, now: 1)
        #expect(session.confirmed == 15)
        #expect(session.isContiguous)
        session.readBack(16, now: 1)
        #expect(session.confirmed == 16)
        #expect(session.snapshot.written == 3)
        #expect(session.snapshot.retried == 0)
    }

    @Test("a run of stored entries that adjoins the confirmed position is confirmed without sending")
    func standingRun() {
        let session = Self.streaming(confirmed: 10, standing: [13, 12, 11])
        #expect(session.confirmed == 13)
        #expect(session.isContiguous)
        #expect(session.snapshot.written == 0)
    }

    @Test("the window limits unconfirmed entries, and reopens by whole datagrams")
    func window() throws {
        var session = Self.streaming()
        let buffer = try Self.buffer(Array(1...20))
        var index = 0
        var sent: [Range<Int>] = []
        while let range = session.nextDatagram(in: buffer, from: &index) {
            sent.append(range)
            session.sent(UInt64(range.lowerBound + 1)...UInt64(range.upperBound), bytes: 1, now: 0)
            index = range.upperBound
        }
        #expect(sent == [0..<4, 4..<8])
        #expect(session.step(now: 1) == .wait(until: 5 * Self.second, forWritable: false))
        session.readBack(1, now: 1)
        #expect(session.freeEntries == 0)
        session.readBack(2, now: 1)
        #expect(session.step(now: 1) == .deliver(entries: 4))
    }

    @Test("the window limits unconfirmed bytes")
    func windowBytes() {
        var session = Self.streaming(limits: Self.limits { $0.windowBytes = 100 })
        session.sent(1...2, bytes: 99, now: 0)
        #expect(session.step(now: 0) == .deliver(entries: 8))
        session.sent(3...4, bytes: 5_000, now: 0)
        #expect(session.step(now: 0) == .wait(until: 5 * Self.second, forWritable: false))
        session.readBack(1, now: 0)
        session.readBack(2, now: 0)
        #expect(session.freeEntries == 0)
        session.readBack(3, now: 0)
        session.readBack(4, now: 0)
        #expect(session.step(now: 0) == .deliver(entries: 10))
    }

    @Test("a full queue makes the session wait for a writable socket")
    func blocked() {
        var session = Self.streaming()
        session.blocked()
        #expect(session.step(now: 1) == .wait(until: nil, forWritable: true))
        session.socketWritable()
        #expect(session.step(now: 2) == .deliver(entries: 10))
    }

    @Test("a queue that stays full with unconfirmed entries leads to a synchronisation")
    func stalled() {
        var session = Self.streaming()
        session.sent(1...4, bytes: 1, now: 0)
        session.blocked()
        #expect(session.step(now: 1) == .wait(until: 5 * Self.second, forWritable: true))
        #expect(session.step(now: 5 * Self.second) == .connect)
        #expect(session.state == .synchronising)
    }

    @Test("each confirmation extends the confirmation deadline")
    func progress() {
        var session = Self.streaming()
        session.sent(1...4, bytes: 1, now: 0)
        session.readBack(1, now: 4 * Self.second)
        #expect(session.step(now: 5 * Self.second) == .deliver(entries: 7))
        #expect(session.step(now: 9 * Self.second) == .connect)
    }

    @Test("an entry read back out of order reveals a loss at once")
    func gap() {
        var session = Self.streaming()
        session.sent(1...4, bytes: 1, now: 0)
        session.readBack(3, now: 1)
        #expect(session.step(now: 1) == .connect)
        #expect(!session.isContiguous)
    }

    @Test("an entry read back twice is counted and changes nothing else")
    func repeated() {
        var session = Self.streaming(confirmed: 2)
        session.sent(3...6, bytes: 1, now: 0)
        session.readBack(3, now: 1)
        session.readBack(3, now: 1)
        session.readBack(1, now: 1)
        #expect(session.confirmed == 3)
        #expect(session.snapshot.repeated == 2)
        #expect(session.snapshot.confirmed == 1)
        #expect(session.step(now: 1) == .deliver(entries: 7))
    }

    @Test("entries proven lost are counted and sent again after a pause")
    func lost() throws {
        var session = Self.streaming(limits: Self.limits { $0.windowEntries = 40 })
        session.sent(1...4, bytes: 1, now: 0)
        session.sent(5...8, bytes: 1, now: 0)
        session.readBack(1, now: 1)
        session.failed(now: 1)
        guard case .wait(let until?, forWritable: false) = session.step(now: 1) else {
            Issue.record("no pause")
            return
        }
        Self.synchronise(&session, standing: [1, 2, 5], now: until)
        #expect(session.snapshot.lost == 5)
        #expect(session.snapshot.position == 2)
        guard case .wait(let resume?, forWritable: false) = session.step(now: until) else {
            Issue.record("no pause before sending again")
            return
        }
        #expect(session.step(now: resume) == .deliver(entries: 20))
        let buffer = try Self.buffer([3, 4, 5, 6, 7, 8, 9])
        var index = 0
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<2)
        session.sent(3...4, bytes: 1, now: resume)
        #expect(session.snapshot.retried == 2)
        index = 2
        #expect(session.nextDatagram(in: buffer, from: &index) == 3..<7)
        session.sent(6...9, bytes: 1, now: resume)
        #expect(session.snapshot.retried == 5)
    }

    @Test("losses narrow the window and confirmations widen it")
    func shrinking() {
        var session = Self.streaming(limits: Self.limits { $0.windowEntries = 64 })
        var now: UInt64 = 0
        for expected in [32, 16, 8, 4, 4] {
            now += 600 * Self.second
            session.sent(1...4, bytes: 1, now: now)
            session.failed(now: now)
            now += 600 * Self.second
            Self.synchronise(&session, now: now)
            #expect(session.window == expected)
        }
        var sequence: UInt64 = 1
        for _ in 0..<200 where session.window < 64 {
            session.sent(sequence...sequence + 3, bytes: 1, now: 0)
            for number in sequence...sequence + 3 { session.readBack(number, now: 0) }
            sequence += 4
        }
        #expect(session.window == 64)
    }

    @Test("entries that are only confirmed late are not sent again")
    func slow() {
        var session = Self.streaming()
        session.sent(1...4, bytes: 1, now: 0)
        Self.synchronise(&session, standing: [1, 2, 3, 4], now: 5 * Self.second)
        #expect(session.snapshot.lost == 0)
        #expect(session.step(now: 5 * Self.second) == .deliver(entries: 10))
    }

    @Test("numbers that the source skips are counted and not waited for")
    func leftOut() throws {
        var session = Self.streaming()
        let buffer = try Self.buffer([3, 4, 8])
        var index = 0
        #expect(session.nextDatagram(in: buffer, from: &index) == 0..<2)
        #expect(session.confirmed == 2)
        session.sent(3...4, bytes: 1, now: 0)
        index = 2
        #expect(session.nextDatagram(in: buffer, from: &index) == 2..<3)
        session.sent(8...8, bytes: 1, now: 0)
        #expect(session.snapshot.skipped == 5)
        session.readBack(3, now: 1)
        session.readBack(4, now: 1)
        #expect(session.confirmed == 7)
        session.readBack(8, now: 1)
        #expect(session.confirmed == 8)
        #expect(session.isContiguous)
        #expect(session.snapshot.confirmed == 3)
    }

    @Test("a drained source is not read again until it has more")
    func drained() {
        var session = Self.streaming()
        session.sourceDrained()
        #expect(session.step(now: 1) == .wait(until: nil, forWritable: false))
        session.sourceHasMore()
        #expect(session.step(now: 1) == .deliver(entries: 10))
    }

    @Test("a failing source is retried with growing pauses")
    func sourceFailure() {
        var session = Self.streaming()
        var pauses: [UInt64] = []
        for _ in 0..<3 {
            session.sourceFailed(now: 0)
            guard case .wait(let until?, forWritable: false) = session.step(now: 0) else {
                Issue.record("no pause")
                return
            }
            #expect(session.step(now: until) == .deliver(entries: 10))
            pauses.append(until)
        }
        #expect(pauses[2] > pauses[0])
    }
}
