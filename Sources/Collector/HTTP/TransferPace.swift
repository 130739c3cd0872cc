// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The least rate of a body or a response.
struct TransferLimits: Hashable, Sendable {
    var bytesPerSecond: Int
    /// How far behind the rate a client is closed.
    var grace: TimeAmount

    /// How far behind the rate it can be evicted where others wait for a place.
    var stall: TimeAmount { .nanoseconds(grace.nanoseconds / 10) }
}

/// How far a client is behind the least rate at which it has to send a body, or to read a response. Pure, with the time
/// as an input.
///
/// At that rate each byte pays for time that has passed, never for time to come: much at once does not allow a long
/// silence afterwards. Time in which the service itself does not read is free.
struct TransferPace: Hashable, Sendable {
    private let bytesPerSecond: Int
    /// The time that is paid for.
    private var paidUntil: NIODeadline
    private var pausedSince: NIODeadline?

    /// A transfer that begins now.
    init(at now: NIODeadline, bytesPerSecond: Int) {
        paidUntil = now
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// The client has sent or read bytes.
    mutating func transferred(_ bytes: Int, at now: NIODeadline) {
        let paid = Double(bytes) / Double(bytesPerSecond) * 1e9
        paidUntil = min(now, paidUntil + .nanoseconds(Int64(min(paid, 1e18))))
    }

    /// The service waits for nothing from the client.
    mutating func pause(at now: NIODeadline) {
        if pausedSince == nil { pausedSince = now }
    }

    /// The service waits for the client.
    mutating func resume(at now: NIODeadline) {
        guard let since = pausedSince else { return }
        pausedSince = nil
        paidUntil = paidUntil + (now - since)
    }

    var isPaused: Bool { pausedSince != nil }

    /// The time that the client has paid for; the longer ago, the farther it is behind.
    func paid(at now: NIODeadline) -> NIODeadline {
        pausedSince.map { paidUntil + (now - $0) } ?? paidUntil
    }
}

/// How much of the responses since the connection was answered last the client, or at least the system, has taken.
struct AnswerProgress {
    private var written = 0
    private var taken = 0

    /// Notes bytes of a response that were written.
    mutating func wrote(_ bytes: Int) { written += bytes }

    /// Notes that all was taken but the bytes that wait; returns how many more these are than last time.
    mutating func took(allBut waiting: Int) -> Int {
        let before = taken
        taken = max(taken, written - waiting)
        return taken - before
    }
}
