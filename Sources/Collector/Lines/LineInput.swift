// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// What a connection hears.
enum LineInput: Sendable {
    case bytes(ByteBuffer)
    /// Nothing has come for a while; told once after bytes.
    case silence
    /// It was silent longest when another client came at the limit.
    case makesRoom
}

/// Tells when a client is silent, and when it is to make room. A connection that is idle has no timer.
final class SilenceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = LineInput

    private let patience: TimeAmount
    private var lastRead = NIODeadline.distantPast
    private var timer: Scheduled<Void>?

    init(patience: TimeAmount) {
        self.patience = patience
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = .now()
        context.fireChannelRead(wrapInboundOut(.bytes(unwrapInboundIn(data))))
        if timer == nil { watch(context, patience) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ConnectionMakesRoom else { return context.fireUserInboundEventTriggered(event) }
        context.fireChannelRead(wrapInboundOut(.makesRoom))
        context.fireChannelReadComplete()
    }

    private func watch(_ context: ChannelHandlerContext, _ delay: TimeAmount) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            let left = self.patience - (.now() - self.lastRead)
            if left > .zero { return self.watch(context, left) }
            self.timer = nil
            context.fireChannelRead(self.wrapInboundOut(.silence))
            context.fireChannelReadComplete()
        }
    }
}
