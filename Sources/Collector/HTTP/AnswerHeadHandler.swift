// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Keeps the head of an answer until something of the answer follows, so that both are sent together.
final class AnswerHeadHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var head: (part: NIOAny, promise: EventLoopPromise<Void>?)?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head(let response) = unwrapOutboundIn(data), response.status.kind != .informational {
            head = (data, promise)
            return
        }
        if let head {
            self.head = nil
            context.write(head.part, promise: head.promise)
        }
        context.write(data, promise: promise)
    }

    /// An answer of which nothing follows is none.
    func handlerRemoved(context: ChannelHandlerContext) {
        head?.promise?.fail(ChannelError.outputClosed)
        head = nil
    }
}
