// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Foundation
internal import LogInput
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import TextOutput

/// Asks one collector, one request at a time; follows no redirect, and reads no more of an answer than a collector writes.
struct CollectorConnection: Sendable {
    /// A collector names 100,000 refused events at most, in some 130 bytes each.
    static let longestAnswer = 16 << 20

    private let url: CollectorURL
    /// The URL that is asked for.
    private let requestURL: String
    private let http: HTTPClient
    private let authorization: String?
    private let headers: [SendHeader]
    private let timeout: Duration
    private let showsCertificate: Bool

    /// - Parameters:
    ///   - timeout: of a whole request, its answer included.
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
        self.headers = headers
        authorization = try access.authorization(credentials: credentials)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(min(timeout, .seconds(10))), read: TimeAmount(timeout))
        )
        var request = url.request
        if url.isEncrypted {
            configuration.tlsConfiguration = try access.encryption(with: url)
            if let shown = try ShownCertificate(access) {
                configuration.http1_1ConnectionDebugInitializer = { shown.check($0) }
            }
            if let name = access.serverName, let host = url.host {
                request = url.request(named: name)
                configuration.dnsOverride = [name: host]
            }
        } else if access.serverName != nil {
            throw InvalidOption("expected --server-name with https://, found \(url)")
        }
        requestURL = request
        configuration.httpVersion = .http1Only
        configuration.decompression = .disabled
        // A connection that cannot be made is told at once; what to do then is decided here.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        http = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration
        )
    }

    /// Whether a secret goes over the network in clear.
    var tellsSecretInClear: Bool { authorization != nil && url.isRemote && !url.isEncrypted }

    func get() async throws(Unreachable) -> CollectorAnswer {
        try await request(HTTPClientRequest(url: requestURL))
    }

    func post(_ body: [UInt8], _ headers: [(String, String)]) async throws(Unreachable) -> CollectorAnswer {
        var request = HTTPClientRequest(url: requestURL)
        request.method = .POST
        request.headers = HTTPHeaders(headers)
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await self.request(request)
    }

    func close() async {
        try? await http.shutdown()
    }

    private func request(_ request: HTTPClientRequest) async throws(Unreachable) -> CollectorAnswer {
        var request = request
        request.headers.add(name: "User-Agent", value: "dnp-telemetry/\(BuildVersion.current)")
        request.headers.add(name: "Accept", value: "application/json, application/problem+json")
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        let (asked, http, timeout) = (request, http, timeout)
        do {
            // The client's own limit ends with the head of an answer.
            return try await withThrowingTaskGroup(of: CollectorAnswer.self) { group in
                group.addTask {
                    let response = try await http.execute(asked, timeout: TimeAmount(timeout))
                    var body = try await response.body.collect(upTo: Self.longestAnswer)
                    return CollectorAnswer(
                        status: Int(response.status.code),
                        type: response.headers.first(name: "Content-Type") ?? "",
                        retryAfter: response.headers.first(name: "Retry-After"),
                        body: body.readBytes(length: body.readableBytes) ?? []
                    )
                }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw HTTPClientError.deadlineExceeded
                }
                defer { group.cancelAll() }
                guard let answer = try await group.next() else { throw HTTPClientError.cancelled }
                return answer
            }
        } catch {
            throw Unreachable(error, timeout: timeout, mayWantCertificate: url.isEncrypted && !showsCertificate)
        }
    }
}

/// What a collector answered.
struct CollectorAnswer: Sendable {
    var status: Int
    var type: String
    var retryAfter: String?
    var body: [UInt8]

    /// The media type without its parameters.
    var mediaType: String { type.prefix { $0 != ";" }.trimmed.lowercased() }
}
