// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// An open connection, as those see it who choose which one makes room.
final class ConnectionEntry: Sendable {
    /// A connection that has just answered is expected to go on; it makes no room before it was silent for so long.
    private static let expectation = TimeAmount.seconds(1)

    let channel: any Channel
    let client: ClientAddress?
    /// In the place of a time: a request is under way.
    private static let atWork = UInt64.max
    /// In the place of a time: it was asked to make room, and is on its way out.
    private static let asked = UInt64.max - 1

    /// From when it may make room, in nanoseconds of the monotonic clock.
    private let spareFrom: Atomic<UInt64>
    private let begun = Atomic(false)

    init(_ channel: any Channel, client: ClientAddress?, at now: NIODeadline) {
        self.channel = channel
        self.client = client
        spareFrom = Atomic(now.uptimeNanoseconds)
    }

    /// Its requests are read from now on.
    func hasBegun() {
        begun.store(true, ordering: .relaxed)
    }

    /// Whether it was accepted and is not read from yet.
    var isStarting: Bool { !begun.load(ordering: .relaxed) }

    /// The first byte of a request came. Until its head is complete it makes room still, behind those that began before.
    func headBegins(at now: NIODeadline) {
        if order < now.uptimeNanoseconds { spareFrom.store(now.uptimeNanoseconds, ordering: .relaxed) }
    }

    /// The head of a request is complete, and the request under way.
    func isAtWork() {
        spareFrom.store(Self.atWork, ordering: .relaxed)
    }

    /// No request is under way.
    func isSilent(since now: NIODeadline) {
        spareFrom.store((now + Self.expectation).uptimeNanoseconds, ordering: .relaxed)
    }

    /// The lower, the earlier it makes room; it may once this is in the past.
    var order: UInt64 { spareFrom.load(ordering: .relaxed) }

    /// It is chosen to make room, and not chosen again.
    func isChosen() {
        spareFrom.store(Self.asked, ordering: .relaxed)
    }

    /// Whether it is on its way out to make room.
    var isLeaving: Bool { order == Self.asked }

    /// Asks it to make room: it does unless a request is under way by then.
    func askForRoom() {
        channel.pipeline.fireUserInboundEventTriggered(ConnectionMakesRoom())
    }
}

/// A connection on which no request is under way is asked to close, since another one waits.
struct ConnectionMakesRoom: Sendable {}
