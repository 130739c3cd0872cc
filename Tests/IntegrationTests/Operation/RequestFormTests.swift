// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("forms of requests")
struct RequestFormTests {
    private static let secret = "c2VjcmV0LXRva2Vu"

    /// A service with a listener of each kind, and a connection to each.
    private func withListeners(
        _ body: (Service, [(name: String, connect: () throws -> RawConnection)]) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/http.sock"
            let (all, ingest, metrics) = (try FreePort.any(), try FreePort.any(), try FreePort.any())
            let options = [
                "--listen", "127.0.0.1:\(ingest) serve=ingest", "--listen", "127.0.0.1:\(metrics) serve=metrics",
                "--listen", "unix:\(path)", "--max-body", "1000000",
            ]
            try await withService(listen: "127.0.0.1:\(all)", port: all, options: options) { service in
                try await body(
                    service,
                    [
                        ("all", { try RawConnection(port: all) }), ("ingest", { try RawConnection(port: ingest) }),
                        ("metrics", { try RawConnection(port: metrics) }), ("unix", { try RawConnection(path: path) }),
                    ]
                )
            }
        }
    }

    private static let paths = ["/v1/events", "/metrics", "/-/healthy", "/-/ready"]

    @Test(
        "every listener refuses heads that HTTP/1.1 forbids on every path, at once and without asking for the body",
        arguments: [
            ("", 400), ("Host: x\r\nHost: y\r\n", 400), ("Host: x y\r\n", 400),
            ("Host: x\r\nContent-Length: 9223372036854775808\r\n", 413),
            ("Host: x\r\nContent-Length: 99999999999999999999\r\n", 400),
            ("Host: x\r\nContent-Length: -1\r\n", 400), ("Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n", 400),
            ("Host: x\r\nTransfer-Encoding: brew\r\n", 501),
            ("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n", 501),
            ("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n", 400),
            ("Host: x\r\nTransfer-Encoding: chunked, brew\r\n", 400),
        ]
    )
    func forbiddenHeads(fields: String, expected: Int) async throws {
        try await withListeners { service, listeners in
            for (name, connect) in listeners {
                for path in Self.paths {
                    let client = try connect()
                    let method = path == "/v1/events" ? "POST" : "GET"
                    client.send("\(method) \(path) HTTP/1.1\r\n\(fields)Expect: 100-continue\r\n\r\n")
                    let answer = try await client.receive { _ in false }
                    #expect(status(of: answer) == expected, "\(name) \(path): \(answer)")
                    #expect(answer.contains("Connection: close\r\n") && answer.hasSuffix("}\n"), "\(name) \(path)")
                }
            }
            let page = try await service.client.metrics()
            let labels = ["route": "other", "status": "\(expected)"]
            #expect(page.value("dnp_telemetry_http_requests_total", labels) == 16)
        }
    }

    @Test(
        "every listener answers a method that a path has not got with 405 and the methods that it has",
        arguments: ["TRACE", "PUT", "DELETE", "PATCH", "PROPFIND", "M-SEARCH", "QUERY", "BREW"]
    )
    func otherMethods(method: String) async throws {
        try await withListeners { service, listeners in
            for (name, connect) in listeners {
                for path in Self.paths + ["/v1//events/", "/metrics?name[]=a", "/no"] {
                    let client = try connect()
                    client.send("\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    let answer = try await client.receive { _ in false }
                    let isServed =
                        switch name {
                        case "ingest": !path.hasPrefix("/metrics") && path != "/no"
                        case "metrics": !path.hasPrefix("/v1") && path != "/no"
                        default: path != "/no"
                        }
                    #expect(status(of: answer) == (isServed ? 405 : 404), "\(name) \(path): \(answer)")
                    let allow = path.hasPrefix("/v1") ? "Allow: POST, OPTIONS\r\n" : "Allow: GET, HEAD, OPTIONS\r\n"
                    #expect(answer.contains(allow) == isServed, "\(name) \(path): \(answer)")
                }
            }
        }
    }

    @Test("no answer repeats what was sent")
    func noEcho() async throws {
        let secret = Self.secret
        let event = #"{"event":"\#(secret)","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
        let type = "Content-Type: application/json\r\n"
        func post(_ fields: String, _ body: String) -> String {
            "POST /v1/events HTTP/1.1\r\nHost: x\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let requests = [
            post("Content-Type: \(secret)\r\n", "{}"),
            post("Content-Type: text/\(secret); charset=\(secret)\r\n", "{}"),
            post("\(type)Content-Encoding: \(secret)\r\n", "{}"), post("\(type)Transfer-Encoding: \(secret)\r\n", "{}"),
            post(type, event), post(type, "{\"\(secret)\":[\(secret)]}"), post(type, "{\"timestamp\":\"\(secret)\"}"),
            post(type, "{\"events\":\"\(secret)\"}"), post("Content-Type: text/plain\r\n", "{\"event\":\"\(secret)"),
            post("\(type)Idempotency-Key: \(String(repeating: secret, count: 20))\r\n", event),
            post("\(type)Authorization: Bearer \(secret)\r\n", secret), post("X-\(secret): \(secret)\r\n", secret),
            "GET /\(secret)?\(secret)=\(secret) HTTP/1.0\r\nHost: \(secret)\r\n\r\n",
            "GET /metrics?name[]=\(secret) HTTP/1.1\r\nHost: x\r\nAccept: text/plain;escaping=\(secret)\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nHost: \(secret)@\(secret)\r\n\r\n",
            "\(secret) /\(secret) HTTP/1.1\r\nHost: x\r\n\r\n",
            "BREW /\(secret) HTTP/1.1\r\nHost: x\r\n\r\n",
            "OPTIONS /metrics HTTP/1.1\r\nHost: x\r\nX: \(secret)\r\n\r\n",
            "GET /metrics HTTP/\(secret)\r\n\r\n", "TRACE / HTTP/1.1\r\nHost: x\r\nCookie: \(secret)\r\n\r\n",
        ]
        try await withService { service in
            let port = await service.client.port
            for request in requests {
                let client = try RawConnection(port: port)
                client.send(request.replacingOccurrences(of: "Host: x\r\n", with: "Host: x\r\nConnection: close\r\n"))
                let answer = try await client.receive { _ in false }
                #expect(!answer.contains(secret) && !answer.isEmpty, "\(request.prefix(200)): \(answer)")
            }
            let page = try await service.client.metrics()
            let log = await service.log
            #expect(!page.text.contains(secret) && !log.contains(secret))
        }
    }
}
