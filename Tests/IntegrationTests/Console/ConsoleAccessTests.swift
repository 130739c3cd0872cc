// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("access to the console")
struct ConsoleAccessTests {
    private static let paths: [(method: String, path: String)] = [
        ("GET", "/"), ("GET", "/cycles"), ("GET", "/judge"), ("GET", "/api/v1/overview"), ("GET", "/api/v1/cycles"),
        ("GET", "/api/v1/cycles/1"), ("GET", "/api/v1/filters"), ("HEAD", "/api/v1/live"), ("GET", "/api/v1/health"),
        ("GET", "/api/v1/openapi.json"), ("POST", "/api/v1/validate"), ("POST", "/api/v1/pseudonym"),
    ]
    private static let ingest = "ingest-0123456789abcdef"
    private static let read = "read-fedcba98765432100"

    private func statuses(_ service: Service, _ headers: HTTPHeaders) async throws -> [Answer] {
        var answers: [Answer] = []
        for (method, path) in Self.paths {
            let body: [UInt8]? = method == "POST" ? Array(#"{"installation":"a"}"#.utf8) : nil
            answers.append(
                try await service.client.request(
                    path,
                    method: method,
                    headers: headers,
                    body: body,
                    within: .seconds(30)
                )
            )
        }
        return answers
    }

    @Test(
        "every path of the console needs a token for reading where there is one, and a token for ingest is not enough"
    )
    func consoleTokens() async throws {
        try await withTemporaryDirectory { directory in
            try Files.write(Array(Self.ingest.utf8), to: "\(directory)/token-ios")
            try Files.write(Array(Self.read.utf8), to: "\(directory)/read-token-qa")
            try await withService(options: ["--credentials-dir", directory]) { service in
                for answer in try await statuses(service, [:]) { #expect(answer.status == 401) }
                for answer in try await statuses(service, ["Authorization": "Bearer \(Self.ingest)"]) {
                    #expect(answer.status == 403)
                }
                for answer in try await statuses(service, ["Authorization": "Bearer \(Self.read)"]) {
                    #expect([200, 400, 404].contains(answer.status))
                }
                let posted = try await service.client.post([], headers: ["Authorization": "Bearer \(Self.read)"])
                #expect(posted.status == 403)
            }
        }
    }

    @Test("a post to the console from another site's page is refused, and every answer has the console's headers")
    func crossSite() async throws {
        try await withService { service in
            for (place, answer) in zip(Self.paths, try await statuses(service, ["Sec-Fetch-Site": "cross-site"])) {
                #expect((answer.status == 403) == (place.method == "POST"), "\(place)")
                #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true, "\(place)")
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                #expect(answer.headers["referrer-policy"] == "no-referrer")
            }
            for answer in try await statuses(service, ["Origin": "https://evil.example"]) where answer.status == 403 {
                #expect(try answer.problem().status == 403)
            }
            #expect(try await statuses(service, ["Sec-Fetch-Site": "same-origin"]).allSatisfy { $0.status != 403 })
        }
    }

    @Test("a console that is off answers 404 on each of its paths")
    func consoleOff() async throws {
        try await withService(options: ["--no-console"]) { service in
            for answer in try await statuses(service, [:]) { #expect(answer.status == 404) }
        }
    }

    @Test("the place of a live stream is free again within seconds after its client has gone, also in silence")
    func goneStreams() async throws {
        try await withService { service in
            let client = await service.client
            func openStreams() async throws -> Double? {
                try await client.metrics().value("dnp_telemetry_console_streams")
            }
            var streams = try (0..<3).map { _ in try RawConnection(port: client.port) }
            for stream in streams { stream.send("GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\r\n") }
            try await eventually("the streams are open") { try await openStreams() == 3 }
            // With everything read its end looks like that of a client that has only finished sending.
            for stream in streams { _ = try await stream.receive { $0.contains("leftOut") } }
            streams = []
            try await eventually("no stream is open any more", within: .seconds(10)) { try await openStreams() == 0 }
        }
    }

    @Test("a live stream begins at the ledger's end after a kill, and says how many events its client has missed")
    func resumedStreams() async throws {
        try await withService { service in
            func begins(after last: Int?) async throws -> String {
                let stream = try RawConnection(port: await service.client.port)
                let header = last.map { "Last-Event-ID: \($0)\r\n" } ?? ""
                stream.send("GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\(header)\r\n")
                return try await stream.receive { $0.contains("leftOut") }
            }
            let events = EventFactory(prefix: "live").cycles(0..<50)
            #expect(try await service.client.post(events.ndjson).status == 200)
            let last = Int(try await service.client.metrics().value("dnp_telemetry_ledger_sequence") ?? 0)
            await service.kill()
            try await service.start()
            let fresh = try await begins(after: nil)
            #expect(fresh.contains("id: \(last)\n") && fresh.contains("\"leftOut\":0"), "\(fresh)")
            let resumed = try await begins(after: last - 5)
            #expect(resumed.contains("id: \(last)\n") && resumed.contains("\"leftOut\":5"), "\(resumed)")

            // One batch that is larger than what is decoded of several: its newest events are seen.
            let stream = try RawConnection(port: await service.client.port)
            stream.send("GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await stream.receive { $0.contains("leftOut") }
            #expect(try await service.client.post(EventFactory(prefix: "large").cycles(0..<1_000).ndjson).status == 200)
            let shown = try await stream.receive { $0.contains("large") && $0.contains("leftOut") }
            #expect(shown.contains("\"sequence\""), "\(shown.prefix(500))")
        }
    }
}
