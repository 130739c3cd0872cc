// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import Gzip

@Suite("Problems")
struct ProblemTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let problem: Problem
        let status: Int
        var retryAfter: ClosedRange<Int>?
        var testDescription: String { problem.type }

        init(_ problem: Problem, _ status: Int, retryAfter: ClosedRange<Int>? = nil) {
            self.problem = problem
            self.status = status
            self.retryAfter = retryAfter
        }
    }

    static let cases: [Case] = [
        Case(.emptyBody, 400),
        Case(.unusableIdempotencyKey, 400),
        Case(.idempotencyKeyReused, 422),
        Case(.unsupportedEncoding, 415),
        Case(.unsupportedType(isMissing: true), 415),
        Case(.unsupportedType(isMissing: false), 415),
        Case(Problem(RequestHeadFault.host), 400),
        Case(Problem(RequestHeadFault.contentLength), 413),
        Case(Problem(RequestHeadFault.transferCoding), 501),
        Case(Problem(RequestHeadFault.framing), 400),
        Case(.unsupportedVersion, 505),
        Case(.bodyTooLarge, 413),
        Case(.nothingReadable(EventText.decode(["{\"event\":\"\\\"\"}", "7"])), 400),
        Case(.overloaded(retryAfter: .seconds(1)), 503, retryAfter: 1...3),
        Case(Problem(GzipError.tooLarge), 413),
        Case(Problem(GzipError.suspiciousRatio), 413),
        Case(Problem(GzipError.damaged), 400),
        Case(Problem(GzipError.truncated), 400),
        Case(Problem(GzipError.outOfMemory), 503, retryAfter: 5...7),
        Case(Problem(SubmissionError.overloaded(retryAfter: .milliseconds(100))), 503, retryAfter: 1...3),
        Case(Problem(SubmissionError.slow(retryAfter: .seconds(90))), 503, retryAfter: 40...60),
        Case(Problem(SubmissionError.overloaded(retryAfter: .milliseconds(7_900))), 503, retryAfter: 8...12),
        Case(Problem(SubmissionError.overloaded(retryAfter: .seconds(30))), 503, retryAfter: 30...45),
        Case(Problem(SubmissionError.stopped), 503, retryAfter: 1...3),
        Case(Problem(SubmissionError.failed(.full(detail: "disk"))), 503, retryAfter: 10...15),
        Case(Problem(SubmissionError.failed(.corrupt(detail: "page"))), 503, retryAfter: 10...15),
        Case(Problem(SubmissionError.failed(.refused(detail: "size"))), 503, retryAfter: 10...15),
    ]

    @Test("problems are JSON with a type, a title, the status and what to do (RFC 9457)", arguments: cases)
    func problemMembers(example: Case) async throws {
        let response = example.problem.response
        #expect(response.status.code == example.status)
        #expect(response.headers[.contentType] == "application/problem+json")
        let object = try await ResponseBytes(response).object()
        #expect(object["status"] as? Int == example.status)
        #expect(object["type"] as? String == "urn:dnp-telemetry:problem:\(example.problem.type)")
        #expect(object["title"] as? String == example.problem.title)
        #expect(object["detail"] as? String == example.problem.detail)
        #expect(!example.problem.title.isEmpty)
        #expect(example.problem.detail.hasSuffix(".") || example.problem.type == "nothing-readable")
    }

    @Test("a problem names the limit that was met, and speaks of one event as one")
    func problemDetails() {
        #expect(Problem.bodyTooLarge.detail.contains("--max-body"))
        #expect(Problem(GzipError.tooLarge).detail.contains("--max-decompressed-body"))
        #expect(Problem.nothingReadable(EventText.decode(["7"])).detail.hasPrefix("The event was rejected: "))
        #expect(Problem.nothingReadable(EventText.decode(["7", "8"])).detail.hasPrefix("All 2 events were rejected; "))
    }

    @Test("problems say after how long to try again, where trying again helps", arguments: cases)
    func problemRetryAfter(example: Case) throws {
        let header = example.problem.response.headers[.retryAfter]
        guard let range = example.retryAfter else {
            #expect(header == nil)
            return
        }
        #expect(range.contains(try #require(header.flatMap { Int($0) })))
    }

    @Test(
        "problems spread the next tries over their whole range",
        arguments: [
            (SubmissionError.overloaded(retryAfter: .seconds(4)), 4...6), (.stopped, 1...3),
            (.failed(.full(detail: "")), 10...15), (.failed(.other(code: 1, message: "")), 10...15),
        ]
    )
    func jitter(error: SubmissionError, range: ClosedRange<Int>) throws {
        let drawn = Set((0..<1_000).compactMap { _ in Problem(error).retryAfter })
        #expect(drawn == Set(range))
    }

    @Test("problems name the method that is allowed when another one was used")
    func methodNotAllowed() async throws {
        let response = Problem.methodNotAllowed("GET, HEAD").response
        #expect(response.status.code == 405)
        #expect(response.headers[.allow] == "GET, HEAD")
        _ = try await ResponseBytes(response).object()
    }

    @Test("problems list what was refused when nothing could be read")
    func nothingReadable() async throws {
        let decoded = EventText.decode(["7", #"{"event":"prefetch_lost"}"#])
        let object = try await ResponseBytes(Problem.nothingReadable(decoded).response).object()
        let rejected = try #require(object["rejected"] as? [[String: Any]])
        #expect(rejected.compactMap { $0["index"] as? Int } == [0, 1])
        #expect(rejected.compactMap { $0["reason"] as? String } == decoded.rejections.map(\.description))
    }

    @Test(
        "a path with a method that it has not got is known by its parts, where the listener serves it",
        arguments: [
            ("/metrics", "GET, HEAD, OPTIONS", [.metrics]), ("//metrics/", "GET, HEAD, OPTIONS", [.metrics]),
            ("/metrics", nil, [.ingest]),
            ("/v1/events", "POST, OPTIONS", [.ingest]), ("/v1//events", "POST, OPTIONS", [.ingest]),
            ("/v1/events", nil, [.metrics]), ("/-/reload", "POST, OPTIONS", [.metrics]), ("/-/reload", nil, [.ingest]),
            ("/-/ready", "GET, HEAD, OPTIONS", [.ingest]),
            ("/v1/events/x", nil, [.ingest]), ("/V1/events", nil, [.ingest]), ("/", nil, [.ingest]),
            ("", nil, [.ingest]),
            ("*", nil, [.ingest]),
        ] as [(String, String?, Listener.Services)]
    )
    func unmatchedPath(path: String, allow: String?, services: Listener.Services) {
        let problem = ServedPaths(metricsPath: "/metrics", hasReload: true).unmatched(path, services)
        #expect(problem.allow == allow)
        #expect(problem.status == (allow == nil ? .notFound : .methodNotAllowed))
    }
}

@Suite("JSON strings")
struct JSONStringTests {
    @Test("JSON strings hold every scalar so that Foundation reads it back")
    func everyScalar() async throws {
        let scalars = (0...0x10FFFF).lazy.compactMap { Unicode.Scalar($0 as UInt32) }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars.filter { $0.value < 0x3000 || $0.value % 251 == 0 })
        let problem = Problem(status: .ok, type: "test", title: text, detail: "\"\\/\u{8}\u{C}\r\n\t\u{0}")
        let object = try await ResponseBytes(problem.response).object()
        let title = try #require(object["title"] as? String)
        #expect(title.unicodeScalars.elementsEqual(text.unicodeScalars))
        #expect((object["detail"] as? String)?.unicodeScalars.elementsEqual(problem.detail.unicodeScalars) == true)
    }
}

@Suite("The hint when to come again")
struct RetryHintTests {
    @Test(
        "the retry hint spreads over half as much again, from 1 to 60 seconds",
        arguments: [
            (.zero, 1...3), (.milliseconds(100), 1...3), (.seconds(1), 1...3), (.milliseconds(1_001), 2...4),
            (.seconds(10), 10...15), (.seconds(40), 40...60), (.seconds(60), 40...60), (.seconds(Int64.max), 40...60),
            (.seconds(-5), 1...3),
        ] as [(Duration, ClosedRange<Int>)]
    )
    func spread(duration: Duration, expected: ClosedRange<Int>) {
        var generator = SplitMix64(7)
        let drawn = Set((0..<2_000).map { _ in RetryHint.jittered(duration, using: &generator) })
        #expect(drawn == Set(expected))
    }
}

/// The bytes of a response's body, and the body as JSON.
struct ResponseBytes {
    let bytes: [UInt8]

    init(_ response: Response) async throws {
        let collected = CollectedBody()
        try await response.body.write(collected)
        bytes = collected.bytes
    }

    /// The body's members, as Foundation reads them.
    func object(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: Data(bytes))
        return try #require(json as? [String: Any], sourceLocation: sourceLocation)
    }
}

/// Keeps what a body writes.
private final class CollectedBody: ResponseBodyWriter, Sendable {
    private let written = Mutex<[UInt8]>([])

    var bytes: [UInt8] { written.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        written.withLock { $0.append(contentsOf: buffer.readableBytesView) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
