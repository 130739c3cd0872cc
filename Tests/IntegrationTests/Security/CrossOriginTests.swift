// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("requests of web pages")
struct CrossOriginTests {
    private static let app = "capacitor://localhost"
    private static let event = #"{"event":"prefetch_scheduled","scheduleId":"web","timestamp":"2025-11-15T05:48:32Z"}"#

    private func ask(
        _ method: String,
        _ path: String = "/v1/events",
        origin: String? = nil,
        _ fields: HTTPHeaders = [:],
        of service: Service
    ) async throws -> Answer {
        var headers = fields
        if let origin { headers.add(name: "Origin", value: origin) }
        if method == "POST" { headers.add(name: "Content-Type", value: "application/json") }
        return try await service.client.request(
            path,
            method: method,
            headers: headers,
            body: method == "POST" ? Array(Self.event.utf8) : nil,
            within: .seconds(10)
        )
    }

    private func names(_ answer: Answer) -> [String] {
        answer.headers.keys.filter { $0.hasPrefix("access-control-") }.sorted()
    }

    @Test("a page of an allowed origin may post with a token, any other is refused, and no answer allows credentials")
    func crossOrigin() async throws {
        try await withTemporaryDirectory { directory in
            try Files.write(Array("web-0123456789abcdef".utf8), to: "\(directory)/token-web")
            let options = ["--credentials-dir", directory, "--cors-origin", Self.app, "--reload-endpoint"]
            try await withService(options: options) { service in
                let token: HTTPHeaders = ["Authorization": "Bearer web-0123456789abcdef"]
                let preflight: HTTPHeaders = [
                    "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization",
                ]
                let allowed = try await ask("OPTIONS", origin: Self.app, preflight, of: service)
                #expect(allowed.status == 204 && allowed.body.isEmpty)
                #expect(allowed.headers["access-control-allow-origin"] == Self.app)
                #expect(allowed.headers["access-control-allow-methods"] == "POST")
                #expect(
                    allowed.headers["access-control-allow-headers"]?.hasPrefix("Authorization, Content-Type,") == true
                )
                #expect(allowed.headers["access-control-max-age"] == "600" && allowed.headers["vary"] == "Origin")
                #expect(names(allowed).count == 4)

                let refused = try await ask("POST", origin: Self.app, of: service)
                #expect(refused.status == 401 && refused.headers["access-control-allow-origin"] == Self.app)
                for origin in ["https://evil.example", "null", "capacitor://localhost.evil.example", "CAPACITOR", ""] {
                    let foreign = try await ask("OPTIONS", origin: origin, preflight, of: service)
                    #expect(foreign.status == 204 && names(foreign) == [], "\(origin)")
                    let post = try await ask("POST", origin: origin, token, of: service)
                    #expect(post.status == 403 && names(post) == [], "\(origin)")
                    #expect(try post.problem().type == "urn:dnp-telemetry:problem:origin")
                }
                #expect(try await service.client.metrics().sum("dnp_telemetry_events_received_total") == 0)

                let posted = try await ask("POST", origin: Self.app, token, of: service)
                #expect(try posted.receipt().accepted == 1)
                #expect(names(posted) == ["access-control-allow-origin", "access-control-expose-headers"])
                let port = await service.client.port
                let own = try await ask("POST", origin: "http://127.0.0.1:\(port)", token, of: service)
                #expect(try own.receipt().duplicates == 1 && names(own) == [])
                #expect(names(try await ask("GET", "/metrics", origin: Self.app, of: service)) == [])
            }
        }
    }

    @Test(
        "OPTIONS names the methods of each route and is 404 elsewhere, and without an origin allowed no page may post or reload"
    )
    func options() async throws {
        try await withService(options: ["--reload-endpoint"]) { service in
            for (path, methods) in [
                ("/v1/events", "POST, OPTIONS"), ("/metrics", "GET, HEAD, OPTIONS"),
                ("/-/healthy", "GET, HEAD, OPTIONS"), ("/-/ready", "GET, HEAD, OPTIONS"),
                ("/-/reload", "POST, OPTIONS"),
            ] {
                let answer = try await ask("OPTIONS", path, origin: Self.app, of: service)
                #expect(answer.status == 204 && answer.body.isEmpty, "\(path)")
                #expect(answer.headers["allow"] == methods && names(answer) == [], "\(path)")
                #expect(answer.headers["content-length"] == nil && answer.headers["vary"] == nil, "\(path)")
            }
            #expect(try await ask("OPTIONS", "/no", of: service).status == 404)
            #expect(try await ask("POST", origin: Self.app, of: service).status == 403)
            #expect(try await ask("POST", of: service).receipt().accepted == 1)
            for fields: HTTPHeaders in [["Sec-Fetch-Site": "cross-site"], ["Origin": "https://evil.example"]] {
                let reload = try await ask("POST", "/-/reload", fields, of: service)
                #expect(try reload.status == 403 && reload.problem().type == "urn:dnp-telemetry:problem:origin")
            }
            #expect(try await ask("POST", "/-/reload", of: service).status == 200)
            let page = try await service.client.metrics()
            #expect(page.value("dnp_telemetry_http_requests_total", ["route": "/-/ready", "status": "204"]) == 1)
        }
    }
}
