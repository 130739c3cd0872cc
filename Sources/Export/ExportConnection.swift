// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import HTTPExchange
internal import NIOCore
internal import NIOExtras
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// A connection to one address, one request at a time, kept open between requests. It follows no redirect and reads
/// bounded answers only.
package final class ExportConnection: Sendable {
    /// Why a request got no answer; whether the receiver has it is unknown.
    package struct Broken: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// The PEM files of TLS.
    package struct TLSFiles: Sendable, Hashable {
        /// The authorities to trust instead of the machine's.
        package var authorities: String?
        /// The client's certificate chain.
        package var certificate: String?
        package var key: String?

        package init() {}
    }

    private static let longestConnect = Duration.seconds(10)
    /// After which a connection without a request is closed: receivers close theirs after a minute or more.
    private static let longestIdle = TimeAmount.seconds(50)

    private let endpoint: ExportEndpoint
    private let proxy: ExportEndpoint?
    private let tls: NIOSSLContext?
    private let timeout: Duration
    private let userAgent: String
    private let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let channel = Mutex<(any Channel)?>(nil)

    /// - Parameters:
    ///   - proxy: takes the requests, or for an encrypted address the connection (`CONNECT`).
    ///   - timeout: of a whole request, connecting and the answer included.
    /// - Throws: what is wrong with the files.
    package init(
        to endpoint: ExportEndpoint,
        proxy: ExportEndpoint?,
        files: TLSFiles,
        timeout: Duration,
        userAgent: String
    ) throws(ExportTLSError) {
        self.endpoint = endpoint
        self.proxy = proxy
        self.timeout = timeout
        self.userAgent = userAgent
        tls = endpoint.isEncrypted ? try files.context() : nil
    }

    /// Sends a request and returns its answer.
    ///
    /// A request that found the open connection closed by the receiver is sent once more on a new one.
    package func post(
        _ headers: [(name: String, value: String)],
        _ body: [UInt8]
    ) async throws(Broken) -> ExportAnswer {
        var all = HTTPHeaders([("Host", endpoint.hostHeader), ("User-Agent", userAgent)])
        for header in headers { all.replaceOrAdd(name: header.name, value: header.value) }
        // Where a request ends is no choice of an operator's file.
        all.replaceOrAdd(name: "Content-Length", value: "\(body.count)")
        for name in ["Transfer-Encoding", "Connection", "Expect"] { all.remove(name: name) }
        let target = proxy != nil && !endpoint.isEncrypted ? endpoint.absoluteTarget : endpoint.path
        let request = HTTPExchangeHandler.Request(
            head: HTTPRequestHead(version: .http1_1, method: .POST, uri: target, headers: all),
            body: ByteBuffer(bytes: body),
            deadline: NIODeadline.now() + TimeAmount(timeout)
        )
        do {
            return try await withTaskCancellationHandler {
                ExportAnswer(try await answer(to: request))
            } onCancel: {
                close()
            }
        } catch {
            throw Broken(error, timeout)
        }
    }

    /// Closes the connection; the next request opens another one.
    package func close() {
        let open = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        open?.close(promise: nil)
    }

    private func answer(to request: HTTPExchangeHandler.Request) async throws -> NIOHTTPClientResponseFull {
        if let open = channel.withLock({ $0 }), open.isActive {
            do {
                return try await open.eventLoop.flatSubmit { HTTPExchangeHandler.send(request, on: open) }.get()
            } catch is HTTPExchangeHandler.ConnectionClosed {
                try Task.checkCancellation()
            }
        }
        let opened = try await connect(by: request.deadline).get()
        channel.withLock { $0 = opened }
        // A cancellation that came before the channel was known has closed nothing.
        if Task.isCancelled { opened.close(promise: nil) }
        return try await opened.eventLoop.flatSubmit { HTTPExchangeHandler.send(request, on: opened) }.get()
    }

    private func connect(by deadline: NIODeadline) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(min(TimeAmount(Self.longestConnect), deadline - .now()))
        guard let tls else {
            return bootstrap.channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try Self.addHTTP(to: channel, isEncrypted: false) }
            }
            .connect(host: (proxy ?? endpoint).host, port: (proxy ?? endpoint).port)
        }
        guard let proxy else {
            return bootstrap.channelInitializer { [endpoint] channel in
                channel.eventLoop.makeCompletedFuture { try Self.addTLS(tls, endpoint, to: channel) }
            }
            .connect(host: endpoint.host, port: endpoint.port)
        }
        return tunnel(bootstrap, proxy, tls, deadline)
    }

    /// A connection through a proxy that forwards bytes (RFC 9110, 9.3.6).
    private func tunnel(
        _ bootstrap: ClientBootstrap,
        _ proxy: ExportEndpoint,
        _ tls: NIOSSLContext,
        _ deadline: NIODeadline
    ) -> EventLoopFuture<any Channel> {
        let endpoint = endpoint
        let connected = loop.makePromise(of: Void.self)
        let names = ["connect-encoder", "connect-decoder"]
        let opened = bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(HTTPRequestEncoder(), name: names[0])
                let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)
                try pipeline.addHandler(ByteToMessageHandler(decoder), name: names[1])
                try pipeline.addHandler(
                    NIOHTTP1ProxyConnectHandler(
                        targetHost: endpoint.host,
                        targetPort: endpoint.port,
                        headers: ["Host": "\(endpoint.host):\(endpoint.port)"],
                        deadline: deadline,
                        promise: connected
                    )
                )
            }
        }
        .connect(host: proxy.host, port: proxy.port)
        opened.whenFailure { connected.fail($0) }
        return opened.flatMap { channel in
            connected.futureResult
                .flatMap {
                    // What encrypts comes once they are gone: the decoder is still at work on the proxy's answer.
                    let removed = names.map { channel.pipeline.removeHandler(name: $0) }
                    return EventLoopFuture.andAllSucceed(removed, on: channel.eventLoop)
                }
                .flatMapThrowing {
                    try Self.addTLS(tls, endpoint, to: channel)
                    return channel
                }
        }
    }

    private static func addTLS(_ tls: NIOSSLContext, _ endpoint: ExportEndpoint, to channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: tls, serverHostname: endpoint.serverName)
        )
        try addHTTP(to: channel, isEncrypted: true)
    }

    private static func addHTTP(to channel: any Channel, isEncrypted: Bool) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(IdleStateHandler(allTimeout: longestIdle))
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: ExportAnswer.maximumBytes))
        try pipeline.addHandler(HTTPExchangeHandler(isEncrypted: isEncrypted))
    }
}

/// A file of TLS that cannot be used.
package struct ExportTLSError: Error, Equatable, CustomStringConvertible {
    package let description: String
}

extension ExportConnection.TLSFiles {
    fileprivate func context() throws(ExportTLSError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["http/1.1"]
        if let authorities {
            let trusted = try Self.read(authorities) { try NIOSSLCertificate.fromPEMFile(authorities) }
            configuration.trustRoots = .certificates(trusted)
        }
        if let certificate, let key {
            let chain = try Self.read(certificate) { try NIOSSLCertificate.fromPEMFile(certificate) }
            configuration.certificateChain = chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(
                try Self.read(key) { try NIOSSLPrivateKey(file: key, format: .pem) }
            )
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ExportTLSError(
                description: "expected a key that belongs to the certificate \(certificate ?? ""), found another one"
            )
        }
    }

    private static func read<Value>(_ path: String, _ read: () throws -> Value) throws(ExportTLSError) -> Value {
        do {
            return try read()
        } catch {
            throw ExportTLSError(description: "expected a file in PEM form at \(path), found none that can be read")
        }
    }
}

extension ExportAnswer {
    fileprivate init(_ response: NIOHTTPClientResponseFull) {
        self.init(
            status: Int(response.head.status.code),
            headers: Dictionary(response.head.headers.map { ($0.name.lowercased(), $0.value) }) { _, last in last },
            body: response.body.map { Array($0.readableBytesView) } ?? []
        )
    }
}

extension ExportConnection.Broken {
    fileprivate init(_ error: any Error, _ timeout: Duration) {
        let words =
            switch error {
            case is HTTPExchangeHandler.DeadlineExceeded, ChannelError.connectTimeout: "no answer within \(timeout)"
            case is HTTPExchangeHandler.ConnectionClosed, is CancellationError, HTTPParserError.invalidEOFState:
                "it closed the connection before its answer was complete"
            case let error as NIOHTTPObjectAggregatorError where error == .frameTooLong:
                "its answer is longer than \(ExportAnswer.maximumBytes) bytes"
            case let error as NIOConnectionError:
                error.connectionErrors.compactMap { ($0.error as? IOError)?.errnoCode }.first.map(Self.words)
                    ?? "its name has no address"
            case let error as IOError: Self.words(error.errnoCode)
            case is HTTPParserError: "its answer is not HTTP"
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: "TLS failed: \(error)"
            default: "\(error)"
            }
        self.init(description: words)
    }

    private static func words(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
