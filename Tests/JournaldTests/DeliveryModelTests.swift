// SPDX-License-Identifier: Apache-2.0

import SystemPrimitives
import Testing

@testable import Journald

@Suite("Delivery against a model of journald with faults")
struct DeliveryModelTests {
    static let entries: UInt64 = 400

    @Test(
        "the journal holds each entry exactly once, whatever happens to journald and to the writer",
        arguments: 0..<400
    )
    func exactlyOnce(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var journald = ModelJournald()
        journald.storesBatches = seed % 5 != 0
        var writer = ModelWriter(number: 0, from: 0, to: Self.entries, seed: random.next())
        var positions: [UInt64] = [0]
        var now: UInt64 = 0
        for turn in 0..<100_000 where writer.session.confirmed < Self.entries {
            let isTroubled = turn < 600
            if !isTroubled { journald.recover() }
            if isTroubled, UInt64.random(in: 0..<20, using: &random) == 0,
                let fault = ModelJournald.Fault.allCases.randomElement(using: &random)
            {
                journald.suffer(fault, using: &random)
            }
            if isTroubled, UInt64.random(in: 0..<100, using: &random) == 0 {
                // The writer is killed; another one goes on from any position that was once confirmed.
                let position = positions.randomElement(using: &random) ?? 0
                writer = ModelWriter(number: writer.number + 1, from: position, to: Self.entries, seed: random.next())
            }
            journald.take(datagrams: Int.random(in: 0...3, using: &random))
            now = try writer.turn(&journald, now: now, using: &random)
            positions.append(writer.session.confirmed)
        }
        #expect(writer.session.confirmed == Self.entries, "\(writer.session.snapshot)")
        let numbers = journald.journal.compactMap { entry -> UInt64? in
            guard case .numbered(let number) = entry else { return nil }
            return number
        }
        expectOnce(numbers, 1...Self.entries)
    }

    @Test("a delivery without faults sends each entry once and synchronises once")
    func undisturbed() throws {
        var random = SplitMix64(seed: 1)
        var journald = ModelJournald()
        var writer = ModelWriter(number: 0, from: 0, to: Self.entries, seed: 1)
        var now: UInt64 = 0
        for _ in 0..<10_000 where writer.session.confirmed < Self.entries {
            journald.take(datagrams: 1)
            now = try writer.turn(&journald, now: now, using: &random)
        }
        let statistics = writer.session.snapshot
        #expect(statistics.position == Self.entries)
        #expect(statistics.written == Self.entries)
        #expect(statistics.synchronisations == 1)
        #expect(statistics.lost == 0 && statistics.retried == 0 && statistics.repeated == 0)
        #expect(writer.session.isContiguous)
    }

    @Test("a journald that drops everything is retried ever more rarely")
    func discarding() throws {
        var random = SplitMix64(seed: 1)
        var journald = ModelJournald()
        journald.isDiscarding = true
        var writer = ModelWriter(number: 0, from: 0, to: Self.entries, seed: 1)
        var now: UInt64 = 0
        while now < 600 * DeliverySessionTests.second {
            journald.take(datagrams: 10)
            now = try writer.turn(&journald, now: now, using: &random)
        }
        #expect(writer.session.snapshot.synchronisations < 40)
        #expect(writer.session.snapshot.written == 0)
    }
}

/// journald as far as a delivery can tell: a queue of datagrams, a journal, and all the ways to lose a message.
struct ModelJournald {
    enum Entry: Hashable {
        case numbered(UInt64)
        case marker(writer: Int, attempt: UInt64, place: Int)
    }

    static let queueLength = 11

    var queue: [[Entry]] = []
    var journal: [Entry] = []
    /// Whether a socket is there to connect to.
    var isListening = true
    /// Whether datagrams are taken from the queue.
    var isRunning = true
    /// Whether everything is discarded after it was taken.
    var isDiscarding = false
    /// Whether more than the first entry of a datagram is stored.
    var storesBatches = true
    /// Counts sockets; a connection to an earlier one is broken.
    var socket = 0

    enum Fault: CaseIterable {
        case kill, killKeepingSocket, stop, start, pause, resume, discard, store, vanish
    }

    mutating func suffer(_ fault: Fault, using random: inout SplitMix64) {
        switch fault {
        case .kill, .vanish:
            // What was being taken is stored in part, the rest of the queue is gone with its socket.
            storePart(using: &random)
            queue = []
            socket += 1
            isListening = fault == .kill
            isRunning = isListening
        case .killKeepingSocket:
            storePart(using: &random)
        case .stop:
            isListening = false
            isRunning = false
            queue = []
            socket += 1
        case .start:
            isListening = true
            isRunning = true
        case .pause: isRunning = false
        case .resume: isRunning = isListening
        case .discard: isDiscarding = true
        case .store: isDiscarding = false
        }
    }

    mutating func recover() {
        isListening = true
        isRunning = true
        isDiscarding = false
    }

    mutating func take(datagrams: Int) {
        guard isRunning else { return }
        for _ in 0..<min(datagrams, queue.count) { store(queue.removeFirst()) }
    }

    /// - Returns: Nil when the connection is broken, else whether there was room.
    mutating func send(_ entries: [Entry], over connection: Int) -> Bool? {
        guard connection == socket, isListening else { return nil }
        guard queue.count < Self.queueLength else { return false }
        queue.append(entries)
        return true
    }

    func stores(_ entry: Entry) -> Bool { journal.contains(entry) }

    private mutating func store(_ entries: [Entry]) {
        guard !isDiscarding else { return }
        journal += storesBatches ? entries : Array(entries.prefix(1))
    }

    private mutating func storePart(using random: inout SplitMix64) {
        guard isRunning, !queue.isEmpty else { return }
        let entries = queue.removeFirst()
        store(Array(entries.prefix(Int.random(in: 0...entries.count, using: &random))))
    }
}

/// A session driven against a ``ModelJournald``.
struct ModelWriter {
    let number: Int
    let last: UInt64
    var session: DeliverySession
    var connection = -1
    var readPosition = 0

    init(number: Int, from confirmed: UInt64, to last: UInt64, seed: UInt64) {
        self.number = number
        self.last = last
        let limits = DeliverySessionTests.limits {
            $0.windowEntries = 40
            $0.entriesPerDatagram = 5
        }
        session = DeliverySession(limits: limits, confirmed: confirmed, seed: seed)
    }

    /// Carries out one step.
    ///
    /// - Returns: The time behind it, in nanoseconds.
    mutating func turn(_ journald: inout ModelJournald, now: UInt64, using random: inout SplitMix64) throws -> UInt64 {
        let millisecond: UInt64 = 1_000_000
        readBack(journald, now: now)
        switch session.step(now: now) {
        case .connect:
            guard journald.isListening else {
                session.connectionFailed(now: now)
                break
            }
            connection = journald.socket
            session.connected(now: now)
        case .sendMarkers(let datagram):
            let places = datagram == .pair ? [1, 2] : [3]
            let entries = places.map {
                ModelJournald.Entry.marker(writer: number, attempt: session.attempt, place: $0)
            }
            switch journald.send(entries, over: connection) {
            case true?: session.markersSent(now: now)
            case false?: session.markersBlocked()
            case nil: session.failed(now: now)
            }
        case .pollForMarkers:
            if journald.stores(.marker(writer: number, attempt: session.attempt, place: 3)) {
                let isSecondThere = journald.stores(.marker(writer: number, attempt: session.attempt, place: 2))
                session.markersFound(provesBatching: isSecondThere)
            }
            return now + 100 * millisecond
        case .scan:
            for case .numbered(let sequence) in journald.journal.shuffled(using: &random) { session.found(sequence) }
            readPosition = journald.journal.count
            session.scanned(now: now)
        case .deliver(let entries):
            try deliver(entries, journald: &journald, now: now)
        case .wait(let until, let forWritable):
            if forWritable, journald.queue.count < ModelJournald.queueLength { session.socketWritable() }
            return min(until ?? .max, now + 100 * millisecond)
        }
        return now + millisecond
    }

    private mutating func readBack(_ journald: ModelJournald, now: UInt64) {
        guard session.phase == .streaming else { return }
        while readPosition < journald.journal.count {
            if case .numbered(let sequence) = journald.journal[readPosition] { session.readBack(sequence, now: now) }
            readPosition += 1
        }
    }

    private mutating func deliver(_ entries: Int, journald: inout ModelJournald, now: UInt64) throws {
        var buffer = JournalEntryBuffer()
        let first = session.handled + 1
        guard first <= last else { return session.sourceDrained() }
        for sequence in first...min(last, first + UInt64(entries) - 1) {
            try buffer.append(sequence: sequence) { $0.append(.message, "x") }
        }
        var index = 0
        while let range = session.nextDatagram(in: buffer, from: &index) {
            let sequences = range.map { buffer.sequence(at: $0) }
            switch journald.send(sequences.map { .numbered($0) }, over: connection) {
            case true?: session.sent(sequences[0]...sequences[sequences.count - 1], bytes: range.count, now: now)
            case false?: return session.blocked()
            case nil: return session.failed(now: now)
            }
            index = range.upperBound
        }
    }
}
