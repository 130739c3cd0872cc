// SPDX-License-Identifier: Apache-2.0

/// A writer's socket to journald, while it has one.
struct DeliverySocket: ~Copyable {
    /// How many sends in a row may find the queue full although poll(2) reported the socket writable.
    private static let maximumBlockedSends = 3

    private var socket: JournalSocket?
    private var descriptor: Int32 = -1
    private var blockedSends = 0
    /// How often it was connected.
    private(set) var connections: UInt64 = 0

    init() {}

    mutating func close() {
        socket = nil
        descriptor = -1
        blockedSends = 0
    }

    mutating func open(path: String) throws(JournalSocketError) {
        let opened = try JournalSocket(path: path)
        descriptor = opened.descriptor
        socket = consume opened
        connections += 1
    }

    /// Sends entries; nil without a socket.
    mutating func send(_ entries: borrowing RawSpan) -> JournalSendResult? {
        note(socket?.send(entries))
    }

    /// Sends entries; nil without a socket.
    mutating func send(_ entries: [UInt8]) -> JournalSendResult? {
        note(socket?.send(entries))
    }

    private mutating func note(_ result: JournalSendResult?) -> JournalSendResult? {
        switch result {
        case .sent: blockedSends = 0
        case .wouldBlock: blockedSends += 1
        case .absent, .tooLarge, nil: break
        }
        return result
    }

    /// What to poll until it is writable; -1 for nothing. A socket that poll(2) reports writable and that is not is retried
    /// after a pause, so that the loop never spins.
    var polledDescriptor: Int32 { blockedSends < Self.maximumBlockedSends ? descriptor : -1 }
}
