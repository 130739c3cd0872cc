// SPDX-License-Identifier: Apache-2.0

@testable import Journald

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
    mutating func turn(_ journald: inout ModelJournald, now: UInt64, using random: inout SplitMix) throws -> UInt64 {
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
        case .lookForMarkers:
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
        case .wait(let until, let forRoom):
            if forRoom, journald.queue.count < ModelJournald.queueLength { session.roomCame(now: now) }
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
