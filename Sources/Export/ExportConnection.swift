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
    private let channels = Mutex(Channels())

    private struct Channels {
        /// The connection that is kept open between requests.
        var open: (any Channel)?
        /// Those that are being connected; more than one where a name has several addresses.
        var opening: [any Channel] = []
        /// How often all were closed, so that none is opened for a request that was given up.
        var closings = 0
    }

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
        var all = HTTPHeaders([
            ("Host", endpoint.hostHeader), ("User-Agent", userAgent), ("Accept-Encoding", "identity"),
        ])
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
        let closings = channels.withLock(\.closings)
        do {
            return try await withTaskCancellationHandler {
                ExportAnswer(try await answer(to: request, closings))
            } onCancel: {
                close()
            }
        } catch {
            throw Broken(error, timeout)
        }
    }

    /// Closes the connection, also while it is being opened; the next request opens another one.
    package func close() {
        let all = channels.withLock { channels in
            let all = channels.opening + [channels.open].compactMap(\.self)
            channels = Channels(closings: channels.closings + 1)
            return all
        }
        for channel in all { channel.close(promise: nil) }
    }

    private func answer(
        to request: HTTPExchangeHandler.Request,
        _ closings: Int
    ) async throws -> NIOHTTPClientResponseFull {
        if let open = channels.withLock(\.open), open.isActive {
            do {
                return try await open.eventLoop.flatSubmit { HTTPExchangeHandler.send(request, on: open) }.get()
            } catch is HTTPExchangeHandler.ConnectionClosed {
                try Task.checkCancellation()
            }
        }
        let opened: any Channel
        do {
            opened = try await connect(by: request.deadline, closings).get()
        } catch {
            channels.withLock { $0.opening = [] }
            throw error
        }
        try keep(opened, closings)
        return try await opened.eventLoop.flatSubmit { HTTPExchangeHandler.send(request, on: opened) }.get()
    }

    /// Keeps a connection open, unless its request was given up meanwhile.
    private func keep(_ opened: any Channel, _ closings: Int) throws {
        let isWanted = channels.withLock { channels in
            guard channels.closings == closings else { return false }
            (channels.open, channels.opening) = (opened, [])
            return true
        }
        guard isWanted else {
            opened.close(promise: nil)
            throw CancellationError()
        }
    }

    /// Notes a connection that is being opened.
    private func begin(_ channel: any Channel, _ closings: Int) throws {
        try channels.withLock { channels in
            guard channels.closings == closings else { throw CancellationError() }
            channels.opening.append(channel)
        }
    }

    private func connect(by deadline: NIODeadline, _ closings: Int) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(min(TimeAmount(Self.longestConnect), deadline - .now()))
        guard let tls else {
            return bootstrap.channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try self.begin(channel, closings)
                    try Self.addHTTP(to: channel, isEncrypted: false)
                }
            }
            .connect(host: (proxy ?? endpoint).host, port: (proxy ?? endpoint).port)
        }
        guard let proxy else {
            return bootstrap.channelInitializer { [endpoint] channel in
                channel.eventLoop.makeCompletedFuture {
                    try self.begin(channel, closings)
                    try Self.addTLS(tls, endpoint, to: channel)
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
        }
        return tunnel(bootstrap, proxy, tls, deadline, closings)
    }

    /// A connection through a proxy that forwards bytes (RFC 9110, 9.3.6).
    private func tunnel(
        _ bootstrap: ClientBootstrap,
        _ proxy: ExportEndpoint,
        _ tls: NIOSSLContext,
        _ deadline: NIODeadline,
        _ closings: Int
    ) -> EventLoopFuture<any Channel> {
        let endpoint = endpoint
        let connected = loop.makePromise(of: Void.self)
        let names = ["connect-encoder", "connect-decoder"]
        let opened = bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try self.begin(channel, closings)
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(HTTPRequestEncoder(), name: names[0])
                let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)
                try pipeline.addHandler(ByteToMessageHandler(decoder), name: names[1])
                try pipeline.addHandler(
                    NIOHTTP1ProxyConnectHandler(
                        targetHost: endpoint.hostOfAuthority,
                        targetPort: endpoint.port,
                        headers: ["Host": "\(endpoint.hostOfAuthority):\(endpoint.port)"],
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

    private static let largestFile = 1 << 20

    private static func read<Value>(_ path: String, _ read: () throws -> Value) throws(ExportTLSError) -> Value {
        var status = stat()
        // Reading a pipe would wait, and a device may have no end.
        let isFile = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        do {
            guard isFile, status.st_size <= largestFile else { throw ExportTLSError(description: "") }
            return try read()
        } catch {
            throw ExportTLSError(description: "expected a file in PEM form at \(path), found none that can be read")
        }
    }

    /// Whether a destination could use them.
    package func check() throws(ExportTLSError) { _ = try context() }
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
            case let error as NIOSSLError where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
                "TLS failed: its certificate is not trusted, or has expired"
            case is NIOSSLExtraError: "TLS failed: its certificate is for another name"
            case is NIOSSLError, is BoringSSLError: "TLS failed, or it does not want this client"
            case let error as NIOHTTP1ProxyConnectHandler.Error: Self.words(ofProxy: error)
            default: "\(error)"
            }
        self.init(description: words)
    }

    private static func words(ofProxy error: NIOHTTP1ProxyConnectHandler.Error) -> String {
        switch error {
        case _ where error == .proxyAuthenticationRequired(): "the proxy wants a password, which it cannot be given"
        case _ where error == .httpProxyHandshakeTimeout(): "the proxy did not answer in time"
        case _ where error == .remoteConnectionClosed(): "the proxy closed the connection"
        default: "the proxy does not forward the connection"
        }
    }

    private static func words(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
