// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import MetricsRegistry

/// A server in this process that shows the page of a registry, in the format that is asked for.
enum PageServer {
    /// Runs a server, and gives its port.
    static func with<Value>(_ registry: MetricsRegistry, _ body: (Int) async throws -> Value) async throws -> Value {
        let router = Router()
        router.get("/metrics") { request, _ in
            let format = ExpositionFormat.negotiated(accept: request.headers[.accept])
            let page = ByteBuffer(bytes: registry.exposition(format))
            return Response(status: .ok, headers: [.contentType: format.contentType], body: .init(byteBuffer: page))
        }
        let port = try FreePort.any()
        let server = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        let client = TelemetryClient(port: port)
        try await eventually("the page is served") {
            (try? await client.get("/metrics", within: .seconds(5)))?.status == 200
        }
        return try await body(port)
    }
}
