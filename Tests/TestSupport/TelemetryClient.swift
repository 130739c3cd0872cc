// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
package import NIOHTTP1

/// An HTTP client of one service that never retries by itself.
package struct TelemetryClient: Sendable {
    package let port: Int

    package init(port: Int) { self.port = port }

    private static let http = client(.disabled)
    /// Decompresses bodies with a decoder that is independent of the service.
    private static let unpacking = client(HTTPClient.Configuration.singletonConfiguration.decompression)

    private static func client(_ decompression: HTTPClient.Decompression) -> HTTPClient {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(5)))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 128
        configuration.decompression = decompression
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Nothing listens on the port; nothing was sent.
    package struct NotConnected: Error {
        package let reason: String
    }

    private static let answerLimit = 64 << 20

    package func get(_ path: String, within limit: Duration = .seconds(30)) async throws -> Answer {
        try await request(path, within: limit)
    }

    package func post(
        _ body: [UInt8],
        type: String? = "application/x-ndjson",
        encoding: String? = nil,
        key: String? = nil,
        chunked: Bool = false,
        headers: HTTPHeaders = [:],
        to path: String = "/v1/events",
        within limit: Duration = .seconds(60)
    ) async throws -> Answer {
        var headers = headers
        if let type { headers.add(name: "Content-Type", value: type) }
        if let encoding { headers.add(name: "Content-Encoding", value: encoding) }
        if let key { headers.add(name: "Idempotency-Key", value: key) }
        return try await request(path, method: "POST", headers: headers, body: body, chunked: chunked, within: limit)
    }

    /// - Parameter unpacks: whether a compressed body is decompressed.
    package func request(
        _ path: String,
        method: String = "GET",
        headers: HTTPHeaders = [:],
        body: [UInt8]? = nil,
        chunked: Bool = false,
        unpacks: Bool = false,
        within limit: Duration
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        request.headers = headers
        if let body {
            request.body = chunked ? .bytes(body, length: .unknown) : .bytes(ByteBuffer(bytes: body))
        }
        let response: HTTPClientResponse
        do {
            response = try await (unpacks ? Self.unpacking : Self.http).execute(request, timeout: TimeAmount(limit))
        } catch let error as IOError where error.errnoCode == ECONNREFUSED {
            throw NotConnected(reason: "\(error)")
        }
        let content = try await response.body.collect(upTo: Self.answerLimit)
        return Answer(
            status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first },
            body: Array(content.readableBytesView)
        )
    }

    /// The page in the text format.
    package func metrics() async throws -> MetricsPage {
        let answer = try await get("/metrics")
        guard answer.status == 200 else { throw Answer.Unexpected(answer) }
        return MetricsPage(answer.text)
    }
}

extension TelemetryClient {
    /// A page with these headers, as sent or decompressed.
    package func scrape(
        _ headers: [(String, String)] = [],
        method: String = "GET",
        path: String = "/metrics",
        unpacks: Bool = false
    ) async throws -> Answer {
        try await request(
            path,
            method: method,
            headers: HTTPHeaders(headers),
            unpacks: unpacks,
            within: .seconds(30)
        )
    }

    /// The value of a sample without labels, on a page with that family alone.
    package func metric(_ name: String) async throws -> Double? {
        MetricsPage(try await scrape(path: "/metrics?name[]=\(name)").text).value(name)
    }
}

/// One HTTP response.
package struct Answer: Sendable {
    package let status: Int
    /// By lower-case name.
    package let headers: [String: String]
    package let body: [UInt8]

    package struct Unexpected: Error, CustomStringConvertible {
        package let answer: Answer
        package var description: String { "HTTP \(answer.status): \(answer.text.prefix(500))" }

        package init(_ answer: Answer) { self.answer = answer }
    }

    /// An event that was refused.
    package struct Rejection: Decodable, Equatable {
        package let index: Int
        package let reason: String

        package init(index: Int, reason: String) {
            self.index = index
            self.reason = reason
        }
    }

    /// The body of a 200 from `/v1/events`.
    package struct Receipt: Decodable, Equatable {
        package let accepted: Int
        package let duplicates: Int
        package let rejected: [Rejection]

        package init(accepted: Int, duplicates: Int, rejected: [Rejection]) {
            self.accepted = accepted
            self.duplicates = duplicates
            self.rejected = rejected
        }
    }

    /// RFC 9457, with the refused events where there are any.
    package struct Problem: Decodable {
        package let type: String
        package let title: String
        package let status: Int
        package let detail: String
        package let rejected: [Rejection]?
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func receipt() throws -> Receipt {
        guard status == 200 else { throw Unexpected(self) }
        return try JSONDecoder().decode(Receipt.self, from: Data(body))
    }

    package func problem() throws -> Problem {
        guard headers["content-type"]?.hasPrefix("application/problem+json") == true else { throw Unexpected(self) }
        return try JSONDecoder().decode(Problem.self, from: Data(body))
    }
}
