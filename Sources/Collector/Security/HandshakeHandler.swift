// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import PeerNames

/// Completes a TLS handshake: checks the names of the client's certificate, enforces a timeout, and counts the result.
///
/// Its errors stay out of the log, since any client can cause them.
final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let allowedNames: Set<String>?
    private let metrics: TLSMetrics
    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?
    private var isComplete = false
    private var isCounted = false

    /// - Parameter timeout: the duration of the handshake from the accept.
    init(allowedNames: Set<String>?, timeout: TimeAmount, metrics: TLSMetrics) {
        self.allowedNames = allowedNames
        self.timeout = timeout
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            deadline?.cancel()
            guard isAllowed(context) else {
                count(.refused)
                context.close(promise: nil)
                return
            }
            isComplete = true
            count(.completed)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isComplete { context.fireChannelRead(data) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isComplete else { return context.fireErrorCaught(error) }
        count(.failed)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        count(.failed)
        context.fireChannelInactive()
    }

    private func isAllowed(_ context: ChannelHandlerContext) -> Bool {
        guard let allowedNames else { return true }
        guard let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self),
            let certificate = handler.peerCertificate
        else { return false }
        return !allowedNames.isDisjoint(with: CertificateNames.of(certificate))
    }

    /// Counts each connection once.
    private func count(_ result: TLSMetrics.Result) {
        if !isCounted { metrics.count(result) }
        isCounted = true
    }
}

/// Answers plain HTTP on a TLS listener with 400, as Go's server does, and removes itself after the first bytes.
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
        // A TLS handshake record begins with 22 (RFC 8446, 5.1), an HTTP method with a letter.
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
