// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import NIOHTTP1
package import NIOSSL
internal import NIOTLS

/// How a request is lost on purpose.
package enum RequestLoss: Equatable, Sendable {
    /// The connection is closed after so many bytes of the body.
    case whileSending(bytes: Int)
    /// The connection is closed when the answer is there, and nobody reads it.
    case answer
}

/// The last handler of a client connection: sends one HTTP/1.1 request at a time and completes with its answer, an error or
/// the request's deadline.
///
/// It sits behind NIO's `NIOHTTPClientResponseAggregator`, which bounds the answer. A request over TLS waits for the
/// handshake and the check of the certificate. The connection stays open after an answer unless the answer closes it.
package final class HTTPExchangeHandler: ChannelInboundHandler {
    package typealias InboundIn = NIOHTTPClientResponseFull
    package typealias OutboundOut = HTTPClientRequestPart
    /// Throws for a certificate that is not the one expected.
    package typealias PeerCheck = (NIOSSLCertificate?) throws -> Void

    /// A request with the time by which its answer has to be complete.
    package struct Request: Sendable {
        let head: HTTPRequestHead
        let body: ByteBuffer?
        package let deadline: NIODeadline
        let loss: RequestLoss?

        package init(head: HTTPRequestHead, body: ByteBuffer?, deadline: NIODeadline, loss: RequestLoss? = nil) {
            self.head = head
            self.body = body
            self.deadline = deadline
            self.loss = loss
        }
    }

    /// No complete answer at the request's deadline.
    package struct DeadlineExceeded: Error {}
    /// The connection was closed before the answer was complete.
    package struct ConnectionClosed: Error {}
    /// The request was lost as it was to be.
    package struct LostOnPurpose: Error {}

    private struct Exchange {
        let request: Request
        let answer: EventLoopPromise<NIOHTTPClientResponseFull>
        let timer: Scheduled<Void>
    }

    private let peerCheck: PeerCheck?
    /// False until the TLS handshake is complete and the certificate accepted.
    private var isReady: Bool
    private var exchange: Exchange?
    /// Why the connection can't be used any more.
    private var failure: (any Error)?
    /// Whether a request has failed with it.
    private var isFailureReported = false
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - isEncrypted: whether a TLS handshake comes first.
    ///   - peerCheck: what the certificate has to be besides what TLS verifies.
    package init(isEncrypted: Bool, peerCheck: PeerCheck? = nil) {
        isReady = !isEncrypted
        self.peerCheck = peerCheck
    }

    /// Sends a request on a connected channel. Call it on the channel's event loop.
    package static func send(_ request: Request, on channel: any Channel) -> EventLoopFuture<NIOHTTPClientResponseFull>
    {
        do {
            return try channel.pipeline.syncOperations.handler(type: Self.self).send(request, channel.eventLoop)
        } catch {
            // A closed channel has no handlers.
            return channel.eventLoop.makeFailedFuture(ConnectionClosed())
        }
    }

    private func send(_ request: Request, _ loop: any EventLoop) -> EventLoopFuture<NIOHTTPClientResponseFull> {
        guard let context, failure == nil, exchange == nil else {
            // Only an error of the handshake is this request's own. What failed an earlier one, or came while the connection
            // was idle, says nothing about it: it needs a new connection.
            let isEarlier = isReady || isFailureReported
            return loop.makeFailedFuture(isEarlier ? ConnectionClosed() : failure ?? ConnectionClosed())
        }
        let answer = loop.makePromise(of: NIOHTTPClientResponseFull.self)
        let timer = loop.assumeIsolated().scheduleTask(deadline: request.deadline) {
            self.fail(DeadlineExceeded(), context)
        }
        exchange = Exchange(request: request, answer: answer, timer: timer)
        if isReady { write(request, context) }
        return answer.futureResult
    }

    private func write(_ request: Request, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if case .whileSending(let bytes)? = request.loss {
            let body = request.body ?? ByteBuffer()
            let part = body.getSlice(at: body.readerIndex, length: min(bytes, body.readableBytes)) ?? ByteBuffer()
            // Closing drops what has not left yet.
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part)))).assumeIsolated().whenComplete { _ in
                self.fail(LostOnPurpose(), context)
            }
            return
        }
        if let body = request.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        // What comes after the first error is its consequence.
        let error = failure ?? error
        failure = error
        if let exchange {
            self.exchange = nil
            isFailureReported = true
            exchange.timer.cancel()
            exchange.answer.fail(error)
        }
        context.close(promise: nil)
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        fail(ConnectionClosed(), context)
        self.context = nil
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            do {
                try peerCheck?(context.pipeline.syncOperations.nioSSL_peerCertificate())
                isReady = true
                if let exchange { write(exchange.request, context) }
            } catch {
                fail(error, context)
            }
        }
        // A router may have dropped the flow of a silent connection without telling either side.
        if event is IdleStateHandler.IdleStateEvent, exchange == nil { fail(ConnectionClosed(), context) }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let response = unwrapInboundIn(data)
        guard let exchange else { return fail(ConnectionClosed(), context) }
        if exchange.request.loss == .answer { return fail(LostOnPurpose(), context) }
        self.exchange = nil
        exchange.timer.cancel()
        if !response.head.isKeepAlive { fail(ConnectionClosed(), context) }
        exchange.answer.succeed(response)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        fail(ConnectionClosed(), context)
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A connection that ends without TLS's own closing may have cut an answer without a length.
        let isCut = isReady && (error as? NIOSSLError) == .uncleanShutdown
        fail(isCut ? ConnectionClosed() : error, context)
    }
}
