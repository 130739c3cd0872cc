// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import TestSupport
import Testing

@Suite("send with unusual responses")
struct SendAnswerTests {
    private static let sample = Sample.path("events/full-cycle.ndjson")
    private static let receipt = #"{"accepted":5,"duplicates":0,"rejected":[]}"#

    private func send(to port: Int, _ options: String...) async throws -> Command {
        try await Command.run(
            [Service.binary(), "send", Self.sample, "--to", "http://127.0.0.1:\(port)", "--format", "json"]
                + options
        )
    }

    @Test("send waits for Retry-After and repeats the batch under its key", arguments: [429, 503])
    func sendRetryAfter(status: Int) async throws {
        try await FakeCollector.with { count in
            count < 2
                ? FakeCollector.answer(.init(code: status), "busy", [.retryAfter: "1", .contentType: "text/plain"])
                : FakeCollector.answer(.ok, Self.receipt)
        } _: { side, port in
            let clock = ContinuousClock()
            let start = clock.now
            let command = try await send(to: port)
            #expect(clock.now - start >= .seconds(2))
            #expect(command.status == .code(0))
            let sent = try SentOutput(command)
            #expect(sent.accepted == 5 && sent.retries == 2 && sent.batches == 1)
            let requests = side.requests
            #expect(requests.count == 3)
            #expect(Set(requests.map { $0["Idempotency-Key"] }).count == 1)
            #expect(Set(requests.map(\.body)).count == 1)
            #expect(requests.first?["Content-Type"] == "application/x-ndjson")
            #expect(requests.first?["Authorization"] == nil)
            #expect(command.error.contains("not sent yet: HTTP \(status)"))
        }
    }

    @Test("send follows no redirect, and sends nothing elsewhere")
    func sendRedirect() async throws {
        try await withService { service in
            let client = await service.client
            let place = "http://127.0.0.1:\(client.port)/v1/events"
            try await FakeCollector.with { _ in
                FakeCollector.answer(.temporaryRedirect, "", [.location: place])
            } _: { side, port in
                let command = try await send(to: port)
                #expect(command.status == .code(3))
                #expect(command.error.contains("HTTP 307: it points elsewhere, which is not followed"))
                #expect(side.requests.count == 1)
            }
            #expect(try await client.metrics().lifecycle == LifecycleTotals().series)
        }
    }

    @Test("send gives up an endless or empty answer in time")
    func sendEndlessAnswer() async throws {
        try await FakeCollector.with { _ in
            Response(status: .ok, headers: [.contentType: "application/json"], body: FakeCollector.endless)
        } _: { _, port in
            let command = try await send(to: port)
            #expect(command.status == .code(3))
            #expect(command.error.contains("its answer has no end"))
        }
        try await FakeCollector.with { _ in
            Response(status: .ok, headers: [.contentType: "application/json"], body: FakeCollector.silent)
        } _: { _, port in
            let command = try await send(to: port, "--timeout", "300ms", "--retry-for", "500ms")
            #expect(command.status == .code(3))
            #expect(command.error.contains("no answer within 300 ms"))
        }
    }

    @Test(
        "send treats an answer that is not a collector's as final",
        arguments: [
            (200, "text/html", "<html>"), (200, "application/json", "[]"), (204, "application/json", ""),
            (401, "text/plain", "who?"), (404, "text/plain", "what?"), (422, "text/plain", "key"),
        ]
    )
    func sendForeignAnswer(status: Int, type: String, body: String) async throws {
        try await FakeCollector.with { _ in
            FakeCollector.answer(.init(code: status), body, [.contentType: type])
        } _: { side, port in
            let command = try await send(to: port)
            #expect(command.status == .code(3))
            #expect(try SentOutput(command).ending == "refused")
            #expect(side.requests.count == 1)
        }
    }

    @Test("send reads a token from a file and never shows it")
    func sendToken() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/token"
            try Data("swordfish-0123456789\n".utf8).write(to: URL(fileURLWithPath: file))
            try await FakeCollector.with { _ in
                FakeCollector.answer(.ok, Self.receipt)
            } _: { side, port in
                let command = try await send(to: port, "--token-file", file)
                #expect(command.status == .code(0))
                #expect(side.requests.map { $0["Authorization"] } == ["Bearer swordfish-0123456789"])
                #expect(!command.error.contains("swordfish") && !command.text.contains("swordfish"))
                let script = "CREDENTIALS_DIRECTORY=\"$2\" exec \"$0\" send \"$1\" --to http://127.0.0.1:\(port)"
                let second = try await Command.run(
                    ["/bin/sh", "-c", script, Service.binary(), Self.sample, directory]
                )
                #expect(second.status == .code(0))
                #expect(side.requests.last?["Authorization"] == "Bearer swordfish-0123456789")
            }
        }
    }
}

/// An in-process server with responses that no real collector gives.
final class FakeCollector: Sendable {
    struct Request: Sendable {
        let headers: HTTPFields
        let body: [UInt8]

        subscript(name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
    }

    private let seen = Mutex<[Request]>([])

    var requests: [Request] { seen.withLock { $0 } }

    /// Runs a server that answers `POST /v1/events` by the number of requests before, and passes its port.
    static func with<Value>(
        _ answer: @escaping @Sendable (Int) -> Response,
        _ body: (FakeCollector, Int) async throws -> Value
    ) async throws -> Value {
        let side = FakeCollector()
        let router = Router()
        router.get("/-/healthy") { _, _ in "here" }
        router.get("/-/ready") { _, _ in answer(0) }
        router.post("/v1/events") { request, _ in
            let bytes = Array(try await request.body.collect(upTo: 8 << 20).readableBytesView)
            let count = side.seen.withLock { seen in
                seen.append(Request(headers: request.headers, body: bytes))
                return seen.count - 1
            }
            return answer(count)
        }
        let port = try FreePort.any()
        let server = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        let client = TelemetryClient(port: port)
        try await eventually("the far side answers") {
            (try? await client.get("/-/healthy", within: .seconds(5)))?.status == 200
        }
        return try await body(side, port)
    }

    static func answer(_ status: HTTPResponse.Status, _ body: String = "", _ headers: HTTPFields = [:]) -> Response {
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: body)))
    }

    /// An endless body.
    static let endless = ResponseBody { writer in
        let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 256 << 10)
        while true { try await writer.write(piece) }
    }

    /// A body that never begins.
    static let silent = ResponseBody { _ in try await Task.sleep(for: .seconds(60)) }
}
