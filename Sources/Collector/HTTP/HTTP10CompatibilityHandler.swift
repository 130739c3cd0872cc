// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// Makes requests of HTTP/1.0 such of HTTP/1.1 that close their connection: nobody waits there for more, and `Expect` is
/// not known (RFC 9110, 10.1.1).
final class OldRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Stands where a request's version is known still.
    func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
        try pipeline.addHandler(self, position: .before(codec))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version != .http1_1 else {
            return context.fireChannelRead(data)
        }
        head.version = .http1_1
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        head.headers.remove(name: "Expect")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
