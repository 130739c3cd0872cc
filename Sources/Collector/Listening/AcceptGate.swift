// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import MetricsRegistry
internal import NIOCore

/// Lets accepted connections in as far as ``ConnectionTable`` allows. At the limit it holds the last ones back, not read
/// from, and accepts no other until they are in; the rest wait in the listener's backlog.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// A connection that is held back tries again so often, since others become silent without a sign.
    private static let pause = TimeAmount.milliseconds(250)

    private let table: ConnectionTable
    private let isReserved: Bool
    /// As many as were accepted at once, at most.
    private var held: [any Channel] = []
    private var wantsToRead = false
    private var retry: Scheduled<Void>?

    /// - Parameter isReserved: whether the listener serves nothing but metrics.
    init(_ table: ConnectionTable, isReserved: Bool) {
        self.table = table
        self.isReserved = isReserved
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        if held.isEmpty, decide(channel, context) { return }
        held.append(channel)
        table.metrics.waited.add()
        if held.count == 1 { waitForRoom(context) }
    }

    func read(context: ChannelHandlerContext) {
        if held.isEmpty {
            context.read()
        } else {
            wantsToRead = true
        }
    }

    /// Lets a connection in, or refuses it; false where it has to wait.
    private func decide(_ channel: any Channel, _ context: ChannelHandlerContext) -> Bool {
        switch table.enter(channel, isReserved: isReserved, at: .now()) {
        case .comeIn:
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

    private func waitForRoom(_ context: ChannelHandlerContext) {
        let again = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        table.wait(ObjectIdentifier(self)) { loop.execute { again.value.gate.tryAgain(again.value.context) } }
        for _ in held { table.makeRoom(at: .now()) }
        retry = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.tryAgain(context) }
    }

    private func tryAgain(_ context: ChannelHandlerContext) {
        guard !held.isEmpty else { return }
        retry?.cancel()
        while let next = held.first, decide(next, context) { held.removeFirst() }
        if !held.isEmpty {
            waitForRoom(context)
        } else if wantsToRead {
            wantsToRead = false
            context.read()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, error.isLackOfDescriptors {
            table.metrics.refused[.descriptors].add()
            table.makeRoom(at: .now())
        }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ListenerPauses {
            context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
            wantsToRead = false
            tryAgain(context)
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

/// A listener accepts no more; what waits in its backlog stays there.
struct ListenerPauses: Sendable {}

extension IOError {
    /// The process, or the machine, has as many files open as it may.
    fileprivate var isLackOfDescriptors: Bool { errnoCode == EMFILE || errnoCode == ENFILE }
}
