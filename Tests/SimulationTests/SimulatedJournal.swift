// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPrimitives

/// journald as far as a writer can tell: a queue of datagrams, a journal, and the ways to lose a message.
///
/// What is in the journal stays, also over a loss of power: how durable it is is up to journald.
struct SimulatedJournald {
    /// An entry, as the fields that the collector gave it.
    struct Entry {
        var identifier = ""
        var stream = ""
        var number: UInt64?
        var message: [UInt8] = []
        var markerID = ""
        var markerPlace: UInt64 = 0
    }

    enum Fault: CaseIterable {
        case kill, killKeepingSocket, stop, start, pause, resume, discard, store
    }

    private static let queueLength = 11

    private(set) var journal: [Entry] = []
    private var queue: [[UInt8]] = []
    private(set) var isListening = true
    private var isRunning = true
    private var isDiscarding = false
    /// Whether more than the first entry of a datagram is stored.
    var storesBatches = true
    /// Counts sockets; a connection to an earlier one is broken.
    private(set) var socket = 0

    mutating func suffer(_ fault: Fault, using random: inout SplitMix64) {
        switch fault {
        case .kill:
            // What was being taken is stored in part, the rest of the queue is gone with its socket.
            storePart(using: &random)
            queue = []
            socket += 1
        case .killKeepingSocket: storePart(using: &random)
        case .stop:
            (isListening, isRunning, queue) = (false, false, [])
            socket += 1
        case .start: (isListening, isRunning) = (true, true)
        case .pause: isRunning = false
        case .resume: isRunning = isListening
        case .discard: isDiscarding = true
        case .store: isDiscarding = false
        }
    }

    mutating func heal() { (isListening, isRunning, isDiscarding) = (true, true, false) }

    /// The machine lost its power: what was queued is gone.
    mutating func reboot() {
        queue = []
        socket += 1
    }

    var hasRoom: Bool { queue.count < Self.queueLength }

    mutating func take(datagrams: Int) {
        guard isRunning else { return }
        for _ in 0..<min(datagrams, queue.count) { store(Self.entries(of: queue.removeFirst())) }
    }

    /// - Returns: nil when the connection is broken, else whether there was room.
    mutating func send(_ datagram: [UInt8], over connection: Int) -> Bool? {
        guard connection == socket, isListening else { return nil }
        guard hasRoom else { return false }
        queue.append(datagram)
        return true
    }

    private mutating func store(_ entries: [Entry]) {
        guard !isDiscarding else { return }
        journal += storesBatches ? entries : Array(entries.prefix(1))
    }

    private mutating func storePart(using random: inout SplitMix64) {
        guard isRunning, !queue.isEmpty else { return }
        let entries = Self.entries(of: queue.removeFirst())
        store(Array(entries.prefix(Int.random(in: 0...entries.count, using: &random))))
    }

    /// Decodes a datagram (https://systemd.io/JOURNAL_NATIVE_PROTOCOL).
    private static func entries(of datagram: [UInt8]) -> [Entry] {
        var entries: [Entry] = []
        var entry = Entry()
        var isEmpty = true
        var rest = datagram[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty {
                if !isEmpty { entries.append(entry) }
                (entry, isEmpty) = (Entry(), true)
                continue
            }
            isEmpty = false
            let name: ArraySlice<UInt8>
            let value: ArraySlice<UInt8>
            if let sign = line.firstIndex(of: UInt8(ascii: "=")) {
                (name, value) = (line[..<sign], line[(sign + 1)...])
            } else {
                let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(8)
                (name, value) = (line, rest.prefix(length))
                rest = rest.dropFirst(length + 1)
            }
            entry.take(String(decoding: name, as: UTF8.self), value)
        }
        if !isEmpty { entries.append(entry) }
        return entries
    }
}

extension SimulatedJournald.Entry {
    fileprivate mutating func take(_ name: String, _ value: ArraySlice<UInt8>) {
        func text() -> String { String(decoding: value, as: UTF8.self) }
        switch name {
        case "SYSLOG_IDENTIFIER": identifier = text()
        case "DNP_LEDGER": stream = text()
        case "DNP_SEQ": number = UInt64(text())
        case "MESSAGE": message = Array(value)
        case "JOURNAL_SYNC_ID": markerID = text()
        case "JOURNAL_SYNC_PLACE": markerPlace = UInt64(text()) ?? 0
        default: break
        }
    }
}
