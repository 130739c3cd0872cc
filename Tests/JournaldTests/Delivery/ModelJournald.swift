// SPDX-License-Identifier: Apache-2.0

@testable import Journald

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

    mutating func suffer(_ fault: Fault, using random: inout SplitMix) {
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

    private mutating func storePart(using random: inout SplitMix) {
        guard isRunning, !queue.isEmpty else { return }
        let entries = queue.removeFirst()
        store(Array(entries.prefix(Int.random(in: 0...entries.count, using: &random))))
    }
}
