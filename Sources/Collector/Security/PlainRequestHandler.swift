// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Stands before TLS: tells who speaks plain HTTP to it so, as Go's server does, and is gone after the first bytes.
final class PlainRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let answer =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
        + "Plain HTTP was spoken where TLS is expected: use https.\n"

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        let buffer = unwrapInboundIn(data)
        // A TLS record of a handshake begins with 22 (RFC 8446, 5.1), a method of HTTP with a letter.
        guard let first = buffer.readableBytesView.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
            return
        }
        isRefused = true
        let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.answer))).whenComplete { _ in
            loopBound.value.close(promise: nil)
        }
    }
}
