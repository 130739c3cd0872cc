// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("roles of the console")
struct ConsoleRolesTests {
    private static let ingest = "ingest-0123456789"
    private static let reading = "reading-0123456789"
    private static let pages = ["/", "/cycles", "/cycles/1", "/live", "/judge", "/health", "/assets/none.js"]
    private static let endpoints = [
        "/api/v1/overview", "/api/v1/cycles", "/api/v1/cycles/1", "/api/v1/filters", "/api/v1/health",
        "/api/v1/openapi.json",
    ]
    private static let posts = ["/api/v1/pseudonym", "/api/v1/validate"]

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func status(
        _ path: String,
        _ headers: HTTPHeaders = [:],
        method: String = "GET",
        _ service: Service
    ) async throws -> Int {
        let body = method == "POST" ? Array((path.hasSuffix("validate") ? "" : #"{"installation":"a"}"#).utf8) : nil
        return try await service.client.request(
            path,
            method: method,
            headers: headers,
            body: body,
            within: .seconds(30)
        ).status
    }

    /// The answers to all paths of the console where the client is let in.
    private func expectOpen(_ headers: HTTPHeaders, _ service: Service) async throws {
        try await eventually("the console has its data") {
            try await status("/api/v1/filters", headers, service) == 200
        }
        for path in Self.pages + Self.endpoints {
            let found = try await status(path, headers, service)
            #expect([200, 404].contains(found), "\(path): \(found)")
        }
        for path in Self.posts { #expect(try await status(path, headers, method: "POST", service) == 200, "\(path)") }
    }

    private func expect(_ expected: Int, _ headers: HTTPHeaders, _ service: Service) async throws {
        for path in Self.pages + Self.endpoints + ["/api/v1/live"] {
            for method in ["GET", "HEAD", "OPTIONS"] {
                #expect(try await status(path, headers, method: method, service) == expected, "\(method) \(path)")
            }
        }
        for path in Self.posts {
            #expect(try await status(path, headers, method: "POST", service) == expected, "\(path)")
        }
    }

    private static func bearer(_ token: String) -> HTTPHeaders { ["Authorization": "Bearer \(token)"] }

    @Test("a token for reading that is withdrawn closes the console, and no token does what is another's")
    func readToken() async throws {
        try await withTemporaryDirectory { directory in
            try write(Self.ingest, "\(directory)/token-ios")
            try write(Self.reading, "\(directory)/read-token-ci")
            try await withService(options: ["--credentials-dir", directory]) { service in
                try await expect(401, [:], service)
                try await expect(401, Self.bearer("another-0123456789"), service)
                try await expect(403, Self.bearer(Self.ingest), service)
                try await expectOpen(Self.bearer(Self.reading), service)
                let events = EventFactory(prefix: "role").cycles(0..<1).ndjson
                for (token, expected) in [(Self.reading, 403), (Self.ingest, 200)] {
                    let answer = try await service.client.post(events, headers: Self.bearer(token))
                    #expect(answer.status == expected)
                }
                #expect(try await status("/metrics", [:], service) == 200)

                // Withdrawn while the service runs.
                try FileManager.default.removeItem(atPath: "\(directory)/read-token-ci")
                try await eventually("the token is withdrawn") {
                    try await status("/api/v1/filters", Self.bearer(Self.reading), service) == 401
                }
                try await expect(401, [:], service)
                #expect(await !service.log.contains(Self.reading))
            }
        }
    }

    @Test("every path of the console needs a user where there are users, and one of console-users where that is set")
    func users() async throws {
        try await withTemporaryDirectory { directory in
            let hash = try await WebConfigurationFile.hash("wonderland")
            let file = try WebConfigurationFile("basic_auth_users: {alice: \(hash), bob: \(hash)}\n", in: directory)
            try write(Self.reading, "\(directory)/read-token-ci")
            func user(_ name: String) -> HTTPHeaders {
                ["Authorization": "Basic \(Data("\(name):wonderland".utf8).base64EncodedString())"]
            }
            let options = ["--web-config", file.path, "--credentials-dir", directory, "--console-users", "alice"]
            try await withService(options: options, asksWhetherReady: false) { service in
                try await eventually("the service answers") { try await status("/", [:], service) == 401 }
                try await expect(401, [:], service)
                try await expect(401, user("carol"), service)
                try await expect(403, user("bob"), service)
                try await expectOpen(user("alice"), service)
                try await expectOpen(Self.bearer(Self.reading), service)
                #expect(try await status("/metrics", user("bob"), service) == 200)
                #expect(try await status("/metrics", Self.bearer(Self.reading), service) == 401)
            }
        }
    }

    @Test("every answer of the console has its strict headers, also a problem and beside an operator's weaker policy")
    func headers() async throws {
        try await withTemporaryDirectory { directory in
            let policy = """
                http_server_config:
                  headers:
                    X-Frame-Options: deny
                    Content-Security-Policy: "default-src *"

                """
            let file = try WebConfigurationFile(policy, in: directory)
            try await withService(options: ["--web-config", file.path]) { service in
                let page = try await service.client.scrape([("Accept", "text/html")], path: "/").text
                let assets = page.split(separator: "\"").filter { $0.hasPrefix("/assets/") }.map(String.init)
                #expect(assets.count >= 2)
                for asset in assets {
                    let answer = try await service.client.get(asset)
                    #expect(answer.status == 200)
                    #expect(answer.headers["cache-control"] == "public, max-age=31536000, immutable")
                    let tag = try #require(answer.headers["etag"])
                    #expect(try await service.client.scrape([("If-None-Match", tag)], path: asset).status == 304)
                    let packed = try await service.client.scrape(
                        [("Accept-Encoding", "gzip")],
                        path: asset,
                        unpacks: true
                    )
                    #expect(packed.body == answer.body)
                    let head = try await service.client.scrape(method: "HEAD", path: asset)
                    #expect(head.status == 200 && head.body.isEmpty && head.headers["etag"] == tag)
                }
                for path in Self.pages + Self.endpoints + assets + ["/api/v1/nothing", "/api/v1/cycles?x=1"] {
                    for method in ["GET", "DELETE"] {
                        let answer = try await service.client.scrape(method: method, path: path)
                        let given = answer.headers["content-security-policy"] ?? ""
                        #expect(
                            given.hasPrefix("default-src 'none'; script-src 'self';"),
                            "\(method) \(path): \(given)"
                        )
                        #expect(given.contains("require-trusted-types-for 'script'; trusted-types 'none'"))
                        #expect(answer.headers["x-content-type-options"] == "nosniff")
                        #expect(answer.headers["referrer-policy"] == "no-referrer")
                        #expect(answer.headers["x-frame-options"] == "deny")
                    }
                }
                #expect(try await service.client.get("/metrics").headers["content-security-policy"] == "default-src *")
                let warning = "Content-Security-Policy: not sent with the console's answers, which keep their own"
                #expect(await service.log.components(separatedBy: warning).count == 2)
            }
        }
    }

    @Test("a console that is off, or not served by a listener, is 404 on each of its paths")
    func off() async throws {
        for options in [["--no-console"], ["--listen", "127.0.0.1:\(try FreePort.any()) serve=metrics"]] {
            try await withService(options: options) { service in
                var client = await service.client
                if let place = options.last,
                    let port = Int(place.split(separator: " ")[0].split(separator: ":").last ?? "")
                {
                    client = TelemetryClient(port: port)
                }
                for path in Self.pages + Self.endpoints + ["/api/v1/live"] {
                    let answer = try await client.get(path)
                    #expect(answer.status == 404, "\(options) \(path)")
                    #expect(try !answer.problem().detail.contains("console"))
                }
                for path in Self.posts { #expect(try await client.post([], to: path).status == 404) }
                #expect(try await client.get("/metrics").status == 200)
            }
        }
    }
}
