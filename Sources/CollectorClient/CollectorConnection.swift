// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import HTTPExchange
internal import LogInput
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Synchronization
internal import TextOutput

/// A connection to one collector, one request at a time, kept open between requests. It follows no redirect and reads
/// bounded answers only.
final class CollectorConnection: Sendable {
    /// A collector names 100,000 rejected events at most, in some 130 bytes each.
    static let largestAnswerBytes = 16 << 20
    private static let longestConnect = Duration.seconds(10)
    /// After which a connection without a request is closed.
    private static let longestIdle = TimeAmount.seconds(60)

    private struct TLS: Sendable {
        let context: NIOSSLContext
        /// For server name indication and verification; nil verifies the address.
        let serverName: String?
        let peerCheck: ShownCertificate?
    }

    private let url: CollectorURL
    private let tls: TLS?
    private let commonHeaders: HTTPHeaders
    private let hasSecret: Bool
    private let timeout: Duration
    private let showsCertificate: Bool
    private let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let channel = Mutex<(any Channel)?>(nil)

    /// - Parameters:
    ///   - timeout: of a whole request, connecting and the answer included.
    ///   - credentials: `$CREDENTIALS_DIRECTORY`.
    init(
        _ url: CollectorURL,
        _ access: CollectorAccess,
        timeout: Duration,
        credentials: String?,
        headers: [SendHeader] = []
    ) throws(InvalidOption) {
        self.url = url
        self.timeout = timeout
        showsCertificate = access.certificate != nil
        let authorization = try access.authorization(credentials: credentials)
        hasSecret = authorization != nil
        if !url.isEncrypted, access.serverName != nil {
            throw InvalidOption("expected --server-name with https://, found \(url)")
        }
        tls = url.isEncrypted ? try Self.tls(url, access) : nil
        var common = HTTPHeaders([
            ("Host", url.authority(named: access.serverName)),
            ("User-Agent", "dnp-telemetry/\(BuildVersion.current)"),
            ("Accept", "application/json, application/problem+json"),
        ])
        for header in headers { common.add(name: header.name, value: header.value) }
        if let authorization { common.add(name: "Authorization", value: authorization) }
        commonHeaders = common
    }

    /// Another connection to the same collector, with the same credentials.
    init(like other: CollectorConnection) {
        url = other.url
        tls = other.tls
        commonHeaders = other.commonHeaders
        hasSecret = other.hasSecret
        timeout = other.timeout
        showsCertificate = other.showsCertificate
    }

    private static func tls(_ url: CollectorURL, _ access: CollectorAccess) throws(InvalidOption) -> TLS {
        var configuration = try access.encryption(with: url)
        configuration.applicationProtocols = ["http/1.1"]
        let peerCheck = try ShownCertificate(access)
        var serverName: String?
        // Server name indication takes no address (RFC 6066, 3).
        if let host = url.host {
            serverName = access.serverName ?? ((try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil)
        }
        do {
            let context = try NIOSSLContext(configuration: configuration)
            return TLS(context: context, serverName: serverName, peerCheck: peerCheck)
        } catch {
            throw InvalidOption("TLS cannot be set up: \(PlainText.line("\(error)"))")
        }
    }

    /// Whether a secret goes over the network in clear.
    var tellsSecretInClear: Bool { hasSecret && url.isRemote && !url.isEncrypted }

    func get() async throws(Unreachable) -> CollectorAnswer {
        try await request(.GET, [], nil)
    }

    func post(_ body: [UInt8], _ headers: [(String, String)]) async throws(Unreachable) -> CollectorAnswer {
        try await request(.POST, headers + [("Content-Length", "\(body.count)")], ByteBuffer(bytes: body))
    }

    /// Sends a request that is lost, or whose answer is; a collector that cannot be reached is no error here.
    func lose(_ loss: RequestLoss, _ body: [UInt8], _ headers: [(String, String)]) async {
        let headers = headers + [("Content-Length", "\(body.count)")]
        _ = try? await request(.POST, headers, ByteBuffer(bytes: body), loss)
    }

    func close() async {
        let open = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        try? await open?.close()
    }

    private func request(
        _ method: HTTPMethod,
        _ headers: [(String, String)],
        _ body: ByteBuffer?,
        _ loss: RequestLoss? = nil
    ) async throws(Unreachable) -> CollectorAnswer {
        var all = commonHeaders
        all.add(contentsOf: headers)
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: url.path, headers: all)
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        do {
            return CollectorAnswer(try await answer(to: .init(head: head, body: body, deadline: deadline, loss: loss)))
        } catch {
            let reason = Unreachable(
                error,
                timeout: timeout,
                mayWantCertificate: url.isEncrypted && !showsCertificate
            )
            guard case .socket(let path) = url.endpoint else { throw reason }
            throw Unreachable(atSocket: path, error) ?? reason
        }
    }

    /// Uses the open connection; a new one where there is none, or where the collector closed it while it was idle. Sending
    /// again is safe: a batch has its idempotency key.
    private func answer(to request: HTTPExchangeHandler.Request) async throws -> NIOHTTPClientResponseFull {
        if let open = channel.withLock({ $0 }), open.isActive {
            do {
                return try await open.eventLoop.flatSubmit { HTTPExchangeHandler.send(request, on: open) }.get()
            } catch let error where Unreachable.isClosing(error) {}
        }
        return try await connect(by: request.deadline)
            .flatMap { [self] channel in
                self.channel.withLock { $0 = channel }
                // On the event loop before anything is read, so that an error of the handshake reaches the request.
                return HTTPExchangeHandler.send(request, on: channel)
            }
            .get()
    }

    private func connect(by deadline: NIODeadline) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(min(TimeAmount(Self.longestConnect), deadline - .now()))
            .channelInitializer { [tls, url] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: tls.context, serverHostname: tls.serverName)
                        )
                    }
                    if case .socket = url.endpoint, tls == nil { try pipeline.addHandler(LineSocketDetector()) }
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.longestIdle))
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: Self.largestAnswerBytes))
                    try pipeline.addHandler(
                        HTTPExchangeHandler(isEncrypted: tls != nil, peerCheck: tls?.peerCheck.map { $0.check })
                    )
                }
            }
        switch url.endpoint {
        case .host(let host, let port): return bootstrap.connect(host: host, port: port)
        case .socket(let path): return bootstrap.connect(unixDomainSocketPath: path)
        }
    }
}

/// The answer of a collector.
struct CollectorAnswer: Sendable {
    var status: Int
    var type: String
    var retryAfter: String?
    var body: [UInt8]

    /// The media type without its parameters.
    var mediaType: String { type.prefix { $0 != ";" }.trimmed.lowercased() }
}

extension CollectorAnswer {
    fileprivate init(_ response: NIOHTTPClientResponseFull) {
        self.init(
            status: Int(response.head.status.code),
            type: response.head.headers.first(name: "Content-Type") ?? "",
            retryAfter: response.head.headers.first(name: "Retry-After"),
            body: response.body.map { Array($0.readableBytesView) } ?? []
        )
    }
}

/// A request without an answer.
struct Unreachable: Error, Equatable {
    /// Why, in words.
    let reason: String
    /// Whether retrying changes nothing.
    let isFinal: Bool

    init(reason: String, isFinal: Bool = false) {
        self.reason = reason
        self.isFinal = isFinal
    }

    /// - Parameter mayWantCertificate: whether the connection is encrypted without a client certificate, which some
    ///   servers close without an alert.
    init(_ error: any Error, timeout: Duration, mayWantCertificate: Bool = false) {
        switch error {
        case is HTTPExchangeHandler.DeadlineExceeded, ChannelError.connectTimeout:
            self.init(reason: "no answer within \(timeout.words)")
        case let error as NIOHTTPObjectAggregatorError where error == .frameTooLong:
            self.init(reason: "its answer has no end, so it is no collector", isFinal: true)
        case let error as NIOConnectionError:
            if let code = error.connectionErrors.compactMap({ ($0.error as? IOError)?.errnoCode }).first {
                self.init(errno: code)
            } else {
                self.init(reason: "the name \(PlainText.line(error.host)) has no address")
            }
        case _ where Self.isClosing(error): self = .closed(mayWantCertificate)
        case let error as IOError: self.init(errno: error.errnoCode)
        case is HTTPParserError: self.init(reason: "its answer is not HTTP")
        case let error as NIOSSLError where error.isAboutTrust:
            self.init(
                reason: "its certificate is not trusted, or has expired; name its authority with --ca",
                isFinal: true
            )
        case is NIOSSLExtraError:
            self.init(
                reason: "its certificate is for another name; tell the name with --server-name",
                isFinal: true
            )
        case let error as ShownCertificate.Unexpected:
            self.init(reason: "expected \(error.expected) as its certificate, found another one", isFinal: true)
        case is NIOSSLError, is BoringSSLError: self.init(tls: "\(error)")
        default: self.init(reason: PlainText.line("\(error)"))
        }
    }

    private init(errno code: Int32) {
        switch code {
        case ECONNREFUSED: self.init(reason: "connection refused")
        case ENOENT: self.init(reason: "there is no such socket")
        case EACCES, EPERM: self.init(reason: "permission to connect is denied", isFinal: true)
        default: unsafe self.init(reason: String(cString: strerror(code)))
        }
    }

    /// Whether an error says that the other side closed the connection.
    static func isClosing(_ error: any Error) -> Bool {
        switch error {
        case is HTTPExchangeHandler.ConnectionClosed, HTTPParserError.invalidEOFState, ChannelError.ioOnClosedChannel,
            ChannelError.alreadyClosed, ChannelError.eof:
            true
        case let error as IOError: error.errnoCode == EPIPE || error.errnoCode == ECONNRESET
        default: false
        }
    }

    private static func closed(_ mayWantCertificate: Bool) -> Unreachable {
        Unreachable(
            reason: "it closed the connection"
                + (mayWantCertificate ? "; does it want a client's certificate (--cert)?" : "")
        )
    }

    /// - Parameter words: BoringSSL's message, which names the other side's alert.
    private init(tls words: String) {
        if words.contains("ALERT_CERTIFICATE_REQUIRED") {
            self.init(reason: "it wants a client's certificate; show one with --cert and --key", isFinal: true)
        } else if words.contains("ALERT_UNKNOWN_CA") || words.contains("ALERT_BAD_CERTIFICATE")
            || words.contains("ALERT_CERTIFICATE_")
        {
            self.init(reason: "it does not take the client's certificate of --cert", isFinal: true)
        } else {
            self.init(reason: "TLS failed; is it an https:// address?")
        }
    }
}

extension NIOSSLError {
    fileprivate var isAboutTrust: Bool {
        if case .handshakeFailed(let error) = self { return "\(error)".contains("CERTIFICATE_VERIFY_FAILED") }
        return self == .unableToValidateCertificate || self == .noCertificateToValidate
    }
}

extension Duration {
    /// A duration as people say it: `250 ms`, `3 s`, `5 min`.
    var words: String {
        let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        if milliseconds < 1_000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 || milliseconds % 60_000 != 0 && milliseconds < 120_000 {
            return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(Double(milliseconds / 100) / 10) s"
        }
        return "\(milliseconds / 60_000) min"
    }
}
