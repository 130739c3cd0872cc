// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import MetricsRegistry
internal import NIOCore

/// Admits accepted connections as far as ``ConnectionTable`` allows.
///
/// At the limit it holds the connections accepted last without reading from them, and accepts no others until those are
/// admitted; the rest wait in the listener's backlog.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// Interval of retries: a connection that becomes idle wakes nobody.
    private static let retryInterval = TimeAmount.milliseconds(250)

    private let table: ConnectionTable
    private let isReserved: Bool
    /// At most the connections of one accept batch.
    private var held: [any Channel] = []
    private var wantsToRead = false
    private var retry: Scheduled<Void>?

    /// - Parameter isReserved: whether the listener may use the reserved places (``ConnectionAdmission/reserve``).
    init(_ table: ConnectionTable, isReserved: Bool) {
        self.table = table
        self.isReserved = isReserved
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        if held.isEmpty, admit(channel, context) { return }
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
    private func admit(_ channel: any Channel, _ context: ChannelHandlerContext) -> Bool {
        switch table.enter(channel, isReserved: isReserved, at: .now()) {
        case .admit:
            channel.closeFuture.whenComplete { [table] _ in table.leave(channel) }
            context.fireChannelRead(wrapInboundOut(channel))
            return true
        case .tooManyOfClient:
            table.metrics.refused[.clientLimit].add()
            channel.close(promise: nil)
            return true
        case .wait:
            return false
        }
    }

    /// Evicts a connection for each held one, and retries when a connection closes or the interval is over.
    private func scheduleRetry(_ context: ChannelHandlerContext) {
        let again = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        table.wait(ObjectIdentifier(self)) { loop.execute { again.value.gate.retryHeld(again.value.context) } }
        for _ in held { table.evictOne(at: .now()) }
        retry = context.eventLoop.assumeIsolated().scheduleTask(in: Self.retryInterval) { self.retryHeld(context) }
    }

    private func retryHeld(_ context: ChannelHandlerContext) {
        guard !held.isEmpty else { return }
        retry?.cancel()
        while let next = held.first, admit(next, context) { held.removeFirst() }
        if !held.isEmpty {
            scheduleRetry(context)
        } else if wantsToRead {
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
