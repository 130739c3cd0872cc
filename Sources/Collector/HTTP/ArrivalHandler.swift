// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Tells a connection's handler that bytes came, before they are made into requests.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.bytesCame(unwrapInboundIn(data).readableBytes) { context.fireChannelRead(data) }
    }
}
