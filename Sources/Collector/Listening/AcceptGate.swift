// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import MetricsRegistry
internal import NIOCore

/// Admits accepted connections as far as ``ConnectionTable`` allows.
///
/// At the limit it holds the connections accepted last without reading from them, and accepts no others until those are
/// admitted; the rest wait in the listener's backlog. Where that takes longer than a moment, it admits to the lobby, so
/// that a scrape does not wait behind requests that have no place.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// The places that the connections of a listener may have beyond the limit.
    enum Beyond: Hashable, Sendable {
        case none
        /// Those of listeners that serve metrics alone (``ConnectionAdmission/reserve``).
        case reserve
        /// Those for scrapes and health checks, and for requests that wait (``ConnectionAdmission/lobby``).
        case lobby
    }

    /// Interval of retries, since a connection that becomes idle wakes nobody, and the time that connections are held
    /// before they are admitted to the lobby.
    private static let retryInterval = TimeAmount.milliseconds(250)

    private let table: ConnectionTable
    private let beyond: Beyond
    /// At most the connections of one accept batch.
    private var held: [any Channel] = []
    private var wantsToRead = false
    private var retry: Scheduled<Void>?
    /// Since when connections are not admitted to regular places as they come.
    private var blockedSince: NIODeadline?

    init(_ table: ConnectionTable, beyond: Beyond) {
        self.table = table
        self.beyond = beyond
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        if held.isEmpty, admit(channel, isNew: true, context) { return }
        held.append(channel)
        table.metrics.waited.add()
        if held.count == 1 { scheduleRetry(context) }
    }

    func read(context: ChannelHandlerContext) {
        if held.isEmpty {
            context.read()
        } else {
            wantsToRead = true
        }
    }

    /// Admits a connection or closes it; false if it has to wait.
    private func admit(_ channel: any Channel, isNew: Bool = false, _ context: ChannelHandlerContext) -> Bool {
        let now = NIODeadline.now()
        let (decision, place) = table.enter(
            channel,
            isReserved: beyond == .reserve,
            mayUseLobby: beyond == .lobby && blockedSince.map { now - $0 >= Self.retryInterval } ?? false,
            at: now
        )
        switch decision {
        case .admit:
            if place == .lobby {
                scheduleTick(context)
            } else if isNew {
                blockedSince = nil
            }
            channel.closeFuture.whenComplete { [table] _ in table.leave(channel) }
            context.fireChannelRead(wrapInboundOut(channel))
            return true
        case .tooManyOfClient:
            table.metrics.refused[.clientLimit].add()
            channel.close(promise: nil)
            return true
        case .wait:
            if blockedSince == nil { blockedSince = now }
            return false
        }
    }

    /// Evicts a connection for each held one, and retries when a connection closes or the interval is over.
    private func scheduleRetry(_ context: ChannelHandlerContext) {
        if !held.isEmpty {
            let again = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
            let loop = context.eventLoop
            table.wait(ObjectIdentifier(self)) { loop.execute { again.value.gate.retryHeld(again.value.context) } }
            table.evict(held.count, at: .now())
        }
        scheduleTick(context)
    }

    private func scheduleTick(_ context: ChannelHandlerContext) {
        guard retry == nil else { return }
        retry = context.eventLoop.assumeIsolated().scheduleTask(in: Self.retryInterval) {
            self.retry = nil
            self.table.relieveQueue(at: .now())
            self.retryHeld(context)
            if self.beyond == .lobby, self.table.isCrowded { self.scheduleTick(context) }
        }
    }

    private func retryHeld(_ context: ChannelHandlerContext) {
        guard !held.isEmpty else { return }
        while let next = held.first, admit(next, context) { held.removeFirst() }
        guard held.isEmpty else { return scheduleRetry(context) }
        if !table.isCrowded { blockedSince = nil }
        if wantsToRead {
            wantsToRead = false
            context.read()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, error.isOutOfDescriptors {
            table.metrics.refused[.descriptors].add()
            table.evictOne(at: .now())
        }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is StopAccepting {
            context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
            wantsToRead = false
            retryHeld(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        retry?.cancel()
        retry = nil
        for channel in held { channel.close(promise: nil) }
        held = []
        context.fireChannelInactive()
    }
}

/// A user event for a listener: admit the held connections and accept no others; the backlog stays as it is.
struct StopAccepting: Sendable {}

extension IOError {
    /// Whether the process or the machine has reached its limit of open files.
    fileprivate var isOutOfDescriptors: Bool { errnoCode == EMFILE || errnoCode == ENFILE }
}
