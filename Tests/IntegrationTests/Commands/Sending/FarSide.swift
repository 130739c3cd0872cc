// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A server in this process that answers what no real collector answers when it is asked to.
final class FarSide: Sendable {
    struct Request: Sendable {
        let headers: HTTPFields
        let body: [UInt8]

        subscript(name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
    }

    private let seen = Mutex<[Request]>([])

    var requests: [Request] { seen.withLock { $0 } }

    /// Runs a server whose answers to `POST /v1/events` are made of how many came before, and gives its port.
    static func with<Value>(
        _ answer: @escaping @Sendable (Int) -> Response,
        _ body: (FarSide, Int) async throws -> Value
    ) async throws -> Value {
        let side = FarSide()
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

    /// A body that goes on until the client has had enough.
    static let endless = ResponseBody { writer in
        let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 256 << 10)
        while true { try await writer.write(piece) }
    }

    /// A body of which nothing comes.
    static let silent = ResponseBody { _ in try await Task.sleep(for: .seconds(60)) }
}
