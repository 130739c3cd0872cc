// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// Runs a service with this web configuration: the service, its URL and the file.
private func withWebConfiguration(
    _ text: String,
    _ options: [String] = [],
    _ body: (Service, String, WebConfigurationFile) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        let file = try WebConfigurationFile(text, in: directory)
        try await withService(options: ["--web-config", file.path] + options, asksWhetherReady: false) {
            service in
            try await body(service, "http://127.0.0.1:\(await service.client.port)", file)
        }
    }
}

@Suite("users, headers and rates of the web configuration")
struct WebUserTests {
    private static let headers = """
        http_server_config:
          headers:
            X-Frame-Options: deny
            X-Content-Type-Options: nosniff
            Content-Security-Policy: "default-src 'self'"

        """

    @Test("every path needs a user with the password, and every answer has the configured headers")
    func webUserNeeded() async throws {
        let users = "basic_auth_users: {alice: \(try await WebConfigurationFile.hash("wonder:land"))}\n"
        try await withWebConfiguration(users + Self.headers, ["--cors-origin", "capacitor://localhost"]) { _, base, _ in
            for path in ["/metrics", "/-/healthy", "/-/ready", "/nowhere", "/v1/events"] {
                for options in [
                    [], ["-u", "alice:wrong"], ["-u", "bob:wonder:land"], ["-H", "Authorization: Bearer x"],
                ] {
                    let answer = try await Curl.get(base + path, options)
                    #expect(answer.status == 401, "\(path) \(options)")
                    #expect(answer.headers["www-authenticate"] == #"Basic realm="dnp-telemetry", charset="UTF-8""#)
                    #expect(answer.headers["content-type"] == "application/problem+json")
                    #expect(answer.headers["x-frame-options"] == "deny")
                    #expect(!answer.body.contains("alice"))
                }
            }
            for (path, status) in [("/metrics", 200), ("/-/ready", 200), ("/nowhere", 404), ("/v1/events", 405)] {
                let answer = try await Curl.get(base + path, "-u", "alice:wonder:land")
                #expect(answer.status == status)
                #expect(answer.headers["x-frame-options"] == "deny")
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                #expect(answer.headers["content-security-policy"] == "default-src 'self'")
            }
            let post = ["-u", "alice:wonder:land", "-H", "Content-Type: application/json", "-d", "[{}]"]
            #expect(try await Curl.get(base + "/v1/events", post).status == 400)
            #expect(try await Curl.get(base + "/v1/events", Array(post.dropFirst(2))).status == 401)
            let page = MetricsPage(try await Curl.get(base + "/metrics", "-u", "alice:wonder:land").body)
            #expect(page.value("dnp_telemetry_http_unauthorized_total", ["reason": "missing"]) == 6)
            #expect(page.value("dnp_telemetry_http_unauthorized_total", ["reason": "password"]) == 10)
            #expect(page.value("dnp_telemetry_http_unauthorized_total", ["reason": "malformed"]) == 5)

            // A preflight has no user; the request behind it needs one, and its page may read that it does.
            let origin = ["-H", "Origin: capacitor://localhost"]
            let asked = ["-X", "OPTIONS", "-H", "Access-Control-Request-Method: POST"]
            #expect(try await Curl.get(base + "/v1/events", origin + asked).status == 204)
            #expect(try await Curl.get(base + "/v1/events", asked).status == 401)
            #expect(try await Curl.get(base + "/metrics", origin + asked).status == 401)
            let refused = try await Curl.get(base + "/v1/events", origin + post.dropFirst(2))
            #expect(refused.status == 401)
            #expect(refused.headers["access-control-allow-origin"] == "capacitor://localhost")
        }
    }

    @Test("beside tokens, events need a token and no user, everything else needs the user")
    func webUserBesideTokens() async throws {
        let users = "basic_auth_users: {alice: \(try await WebConfigurationFile.hash("wonderland"))}\n"
        try await withTemporaryDirectory { credentials in
            try Data("0123456789abcdef".utf8).write(to: URL(fileURLWithPath: "\(credentials)/token-a"))
            try await withWebConfiguration(users, ["--credentials-dir", credentials]) { _, base, _ in
                let post = ["-H", "Content-Type: application/json", "-d", "[{}]"]
                let token = ["-H", "Authorization: Bearer 0123456789abcdef"]
                let user = ["-u", "alice:wonderland"]
                for (path, options, status) in [
                    ("/v1/events", post + token, 400), ("/v1/events", post + user, 401), ("/metrics", token, 401),
                    ("/v1/events", token, 401), ("/metrics", user, 200),
                ] {
                    let answer = try await Curl.get(base + path, options)
                    #expect(answer.status == status, "\(path) \(options)")
                }
            }
        }
    }

    @Test(
        "a changed web configuration takes effect without a restart; a broken, empty or open one changes nothing and is reported once"
    )
    func webUserChanged() async throws {
        let (first, second) = (
            try await WebConfigurationFile.hash("first"), try await WebConfigurationFile.hash("second")
        )
        try await withWebConfiguration("basic_auth_users: {alice: \(first)}\n") { service, base, file in
            #expect(try await Curl.get(base + "/metrics", "-u", "alice:first").status == 200)
            try file.write("basic_auth_users: {alice: \(second)}\n\(Self.headers)")
            try await eventually("the new password is taken") {
                try await Curl.get(base + "/metrics", "-u", "alice:second").headers["x-frame-options"] == "deny"
            }
            #expect(try await Curl.get(base + "/metrics", "-u", "alice:first").status == 401)
            for (broken, failures) in [
                ("basic_auth_users: {alice: secret}\n", 1.0), ("", 2), ("basic_auth_user: {}\n", 3), ("{}\n", 4),
            ] {
                try file.write(broken)
                try await eventually("the broken file is counted") {
                    let page = MetricsPage(try await Curl.get(base + "/metrics", "-u", "alice:second").body)
                    return page.value("dnp_telemetry_web_config_reloads_total", ["result": "failure"]) == failures
                }
                #expect(try await Curl.get(base + "/metrics").status == 401)
                let page = MetricsPage(try await Curl.get(base + "/metrics", "-u", "alice:second").body)
                #expect(page.value("dnp_telemetry_web_config_last_reload_successful") == 0)
            }
            let log = await service.log
            #expect(log.contains("\(file.path):1: unknown key \"basic_auth_user\"; did you mean basic_auth_users?"))
            #expect(log.components(separatedBy: "unknown key").count == 2)
            #expect(!log.contains("secret"))
            #expect(
                log.contains("expected basic_auth_users, found none; only a restart removes the last user")
            )
            try file.write("basic_auth_users: {bob: \(first)}\n")
            try await eventually("the other user is taken") {
                try await Curl.get(base + "/metrics", "-u", "bob:first").status == 200
            }
            #expect(try await Curl.get(base + "/metrics", "-u", "alice:second").status == 401)
            let page = MetricsPage(try await Curl.get(base + "/metrics", "-u", "bob:first").body)
            #expect(page.value("dnp_telemetry_web_config_last_reload_successful") == 1)
            #expect(page.value("dnp_telemetry_token_last_reload_successful") == nil)
        }
    }

    @Test("the rate limit of all requests holds, and says when to retry")
    func webRateLimit() async throws {
        try await withWebConfiguration("rate_limit: {interval: 1h, burst: 5}\n\(Self.headers)") { _, base, _ in
            var answers: [Curl] = []
            for _ in 0..<8 { answers.append(try await Curl.get(base + "/-/ready")) }
            #expect(answers.map(\.status) == [200, 200, 200, 200, 200, 429, 429, 429])
            let wait = try #require(answers[7].headers["retry-after"].flatMap { Int($0) })
            #expect((3_500...4_600).contains(wait))
            #expect(answers[7].headers["x-frame-options"] == "deny")
            #expect(answers[7].headers["content-type"] == "application/problem+json")
        }
    }

    @Test("the rate limit of one client holds")
    func webClientRate() async throws {
        try await withService(options: ["--client-rate", "2/m"], asksWhetherReady: false) { service in
            let client = await service.client
            #expect(try await client.get("/-/ready").status == 200)
            let answer = try await client.get("/-/ready")
            #expect(answer.status == 429)
            #expect(try answer.problem().detail.contains("--client-rate"))
            #expect((28...42).contains(try #require(answer.headers["retry-after"].flatMap { Int($0) })))
        }
    }
}

extension Alone {
    @Suite("password guessing")
    struct PasswordGuessTests {
        @Test("many concurrent password guesses do not delay known users and their scrapes")
        func passwordGuessing() async throws {
            let users = "basic_auth_users: {alice: \(try await WebConfigurationFile.hash("first", cost: 12))}\n"
            try await withWebConfiguration(users) { service, base, _ in
                #expect(try await Curl.get(base + "/metrics", "-u", "alice:first").status == 200)
                let client = await service.client
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for index in 0..<150 {
                        group.addTask {
                            let guess = Data("alice:\(index)".utf8).base64EncodedString()
                            return try await client.request(
                                "/metrics",
                                headers: ["Authorization": "Basic \(guess)"],
                                within: .seconds(120)
                            ).status
                        }
                    }
                    let known = try await client.request(
                        "/metrics",
                        headers: ["Authorization": "Basic \(Data("alice:first".utf8).base64EncodedString())"],
                        within: .seconds(20)
                    )
                    #expect(known.status == 200)
                    var counts: [Int: Int] = [:]
                    for try await status in group { counts[status, default: 0] += 1 }
                    #expect(Set(counts.keys).isSubset(of: [401, 503]))
                    #expect(counts[503, default: 0] > 0)
                }
            }
        }
    }
}

/// A `web.config.yml` that a test rewrites.
struct WebConfigurationFile {
    let path: String

    init(_ text: String, in directory: String) throws {
        path = "\(directory)/web.config.yml"
        try write(text)
    }

    func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The bcrypt hash of a password, by htpasswd.
    static func hash(_ password: String, cost: Int = 5) async throws -> String {
        try MissingDependency.require(executable: "/usr/bin/htpasswd", package: "apache2-utils")
        let line = try await Command.run(["/usr/bin/htpasswd", "-nbBC", "\(cost)", "", password]).text
        return String(line.drop { $0 == ":" }.prefix { !$0.isNewline })
    }
}
