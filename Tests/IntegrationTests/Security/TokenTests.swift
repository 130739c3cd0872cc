// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOHTTP1
import TestSupport
import Testing

@Suite("tokens")
struct TokenTests {
    private static let ios = "ios-0123456789abcdef"
    private static let ci = "ci-fedcba9876543210"

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// A service with the tokens `ios` and `ci` in a directory that the body gets.
    private func with(_ options: [String] = [], _ body: (Service, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try write(Self.ios + "\n", "\(directory)/token-ios")
            try write(Self.ci, "\(directory)/token-ci")
            try await withService(options: ["--credentials-dir", directory] + options) { service in
                try await body(service, directory)
            }
        }
    }

    private func post(
        _ batch: EventBatch,
        _ authorization: String?,
        to path: String = "/v1/events",
        _ service: Service
    ) async throws -> Answer {
        var headers: HTTPHeaders = ["Content-Type": "application/x-ndjson"]
        if let authorization { headers.add(name: "Authorization", value: authorization) }
        return try await service.client.request(
            path,
            method: "POST",
            headers: headers,
            body: batch.ndjson,
            within: .seconds(30)
        )
    }

    @Test("events need a token, nothing else does, and a missing or wrong one gets a clear refusal")
    func tokenNeeded() async throws {
        let batch = EventFactory(prefix: "token").cycles(0..<10)
        try await with { service, _ in
            for (authorization, challenge) in [
                (nil, #"Bearer realm="dnp-telemetry""#),
                ("Bearer", #"Bearer realm="dnp-telemetry""#),
                ("Basic aW9zOmlvcy0wMTIzNDU2Nzg5YWJjZGVm", #"Bearer realm="dnp-telemetry""#),
                ("Bearer wrong", #"Bearer realm="dnp-telemetry", error="invalid_token""#),
                ("Bearer \(Self.ios)x", #"Bearer realm="dnp-telemetry", error="invalid_token""#),
                ("Bearer \(Self.ios.dropLast())", #"Bearer realm="dnp-telemetry", error="invalid_token""#),
                ("Bearer \(Self.ios), Bearer \(Self.ci)", #"Bearer realm="dnp-telemetry", error="invalid_token""#),
            ] as [(String?, String)] {
                let answer = try await post(batch, authorization, service)
                #expect(answer.status == 401, "\(authorization ?? "")")
                #expect(answer.headers["www-authenticate"] == challenge)
                #expect(try answer.problem().status == 401)
                #expect(!answer.text.contains(Self.ios))
            }
            for path in ["/metrics", "/-/healthy", "/-/ready"] {
                #expect(try await service.client.get(path).status == 200)
            }
            #expect(try await service.client.metrics().sum("dnp_telemetry_events_received_total") == 0)

            #expect(try await post(batch, "Bearer \(Self.ios)", service).receipt().accepted == batch.count)
            #expect(try await post(batch, "bearer  \(Self.ci)", service).receipt().duplicates == batch.count)
            let page = try await service.client.metrics()
            #expect(page.value("dnp_telemetry_token_events_total", ["token": "ios"]) == Double(batch.count))
            #expect(page.value("dnp_telemetry_token_events_total", ["token": "ci"]) == Double(batch.count))
            #expect(page.series("dnp_telemetry_token_events_total").count == 2)
            #expect(page.value("dnp_telemetry_http_unauthorized_total", ["reason": "missing"]) == 1)
            #expect(page.value("dnp_telemetry_http_unauthorized_total", ["reason": "malformed"]) == 2)
            #expect(page.value("dnp_telemetry_http_unauthorized_total", ["reason": "token"]) == 4)
        }
    }

    @Test(
        "a wrong token with a dripping body is refused at once, and its connection is released",
        arguments: [60_000, 1_000_000]
    )
    func tokenDripped(size: Int) async throws {
        try await with(["--body-timeout", "5m", "--max-connections", "1"]) { service, _ in
            let dripper = try RawConnection(port: await service.client.port)
            dripper.send(
                "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(size)\r\n\r\n["
            )
            let answer = try await dripper.receive { $0.hasSuffix("}\n") }
            #expect(status(of: answer) == 401 && answer.contains("Connection: close\r\n") == (size > 65_536))
            #expect(answer.contains("\"status\":401"))
            let batch = EventFactory(prefix: "token").cycles(0..<10)
            // A new connection: an idle one of the client was evicted for the dripper, perhaps just now.
            let served = try RawConnection(port: await service.client.port)
            served.send(
                "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(Self.ios)\r\n"
                    + "Content-Type: application/x-ndjson\r\nContent-Length: \(batch.ndjson.count)\r\n"
                    + "Connection: close\r\n\r\n\(String(decoding: batch.ndjson, as: UTF8.self))"
            )
            try await eventually("the connection is closed") { !dripper.send("{}") }
            #expect(status(of: try await served.receive { _ in false }) == 200)
        }
    }

    @Test("no spelling of the path gets around the token")
    func tokenPaths() async throws {
        let batch = EventFactory(prefix: "path").cycles(0..<2)
        try await with { service, directory in
            let file = "\(directory)/batch"
            try Data(batch.ndjson).write(to: URL(fileURLWithPath: file))
            let port = await service.client.port
            for path in [
                "/v1/events", "//v1/events", "/v1//events", "/v1/events/", "/v1/events//", "/v1/%65vents",
                "/%761/events",
                "/v1/events?x=1", "/v1/./events", "/-/../v1/events", "/v1/events;a=b", "/V1/events",
                "/v1/events%20",
                "/v1%2Fevents", "/metrics/../v1/events", "/v1/events#x",
            ] {
                let answer = try await Curl.get(
                    "http://127.0.0.1:\(port)\(path)",
                    "-H",
                    "Content-Type: application/x-ndjson",
                    "--data-binary",
                    "@\(file)"
                )
                #expect([401, 404, 405].contains(answer.status), "\(path): \(answer.status ?? 0)")
            }
            #expect(try await service.client.metrics().sum("dnp_telemetry_events_received_total") == 0)
        }
    }

    @Test("a replaced, added or removed token takes effect without a restart, a broken one changes nothing")
    func tokenRotation() async throws {
        let batch = EventFactory(prefix: "rotate").cycles(0..<2)
        try await with { service, directory in
            let new = "ios-second-0123456789"
            try write(new, "\(directory)/token-ios")
            try await eventually("the new token is taken") {
                try await post(batch, "Bearer \(new)", service).status == 200
            }
            #expect(try await post(batch, "Bearer \(Self.ios)", service).status == 401)
            #expect(try await post(batch, "Bearer \(Self.ci)", service).status == 200)

            try write("short", "\(directory)/token-ci")
            try await eventually("the broken file is counted") {
                try await service.client.metrics()
                    .value("dnp_telemetry_token_reloads_total", ["result": "failure"]) == 1
            }
            #expect(try await post(batch, "Bearer \(Self.ci)", service).status == 200)
            var page = try await service.client.metrics()
            #expect(page.value("dnp_telemetry_token_last_reload_successful") == 0)
            #expect(page.value("dnp_telemetry_web_config_last_reload_successful") == nil)
            #expect(
                await service.log.contains("\(directory)/token-ci: expected a token of 16 to 4096 bytes, found 5")
            )

            for name in ["token-ios", "token-ci"] {
                try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
            }
            try await eventually("no token is taken any more") {
                try await post(batch, "Bearer \(Self.ci)", service).status == 401
            }
            #expect(try await post(batch, "Bearer \(new)", service).status == 401)
            #expect(try await post(batch, nil, service).status == 401)
            page = try await service.client.metrics()
            #expect(page.value("dnp_telemetry_token_last_reload_successful") == 1)
        }
    }

    @Test("a limit for an unknown token is warned of at the start and at a reload")
    func tokenUnknownLimit() async throws {
        try await with(["--token-limit", "cii=5/s"]) { service, _ in
            let warning = "--token-limit: expected the name of a token, found \"cii\"; did you mean ci?"
            #expect(await service.log.components(separatedBy: warning).count == 2)
            await service.signal(SIGHUP)
            try await eventually("it is warned of again") {
                await service.log.components(separatedBy: warning).count == 3
            }
        }
    }

    @Test("a world-readable token is reported at the start, and at a reload only after it was mended")
    func tokenExposed() async throws {
        try await with { service, directory in
            let warning = "\(directory)/token-ios: everybody on this machine can read it"
            var reloads = 0.0
            func mode(_ mode: Int, _ path: String) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            try mode(0o600, "\(directory)/token-ci")
            try mode(0o755, directory)
            func reload(_ bits: Int) async throws -> Int {
                try mode(bits, "\(directory)/token-ios")
                await service.signal(SIGHUP)
                reloads += 1
                let expected = reloads
                try await eventually("the reload is counted") {
                    try await service.client.metrics()
                        .value("dnp_telemetry_config_reloads_total", ["result": "applied"]) == expected
                }
                return await service.log.components(separatedBy: warning).count - 1
            }
            let before = try await reload(0o600)
            #expect(try await reload(0o644) == before + 1)
            #expect(try await reload(0o644) == before + 1)
            #expect(try await reload(0o600) == before + 1)
            #expect(try await reload(0o644) == before + 2)
        }
    }

    @Test("an empty token directory prevents the start")
    func tokenNone() async throws {
        try await withTemporaryDirectory { directory in
            try write(Self.ios, "\(directory)/ios")
            let command = try await Command.run([
                try Service.binary(), "serve", "--listen", "127.0.0.1:0", "--journal", "off", "--state-dir",
                "\(directory)/state", "--credentials-dir", directory,
            ])
            #expect(command.status == .code(78))
            #expect(command.error.contains("\(directory): expected a token in a file token-NAME, found none"))
        }
    }

    @Test("a token over its limit is told when to retry, and the others are not delayed")
    func tokenLimit() async throws {
        let factory = EventFactory(prefix: "limit")
        try await with(["--token-limit", "ci=5/s"]) { service, _ in
            #expect(try await post(factory.cycles(0..<100), "Bearer \(Self.ci)", service).status == 200)
            let answer = try await post(factory.cycles(100..<101), "Bearer \(Self.ci)", service)
            #expect(answer.status == 429)
            #expect(try answer.problem().detail.contains("--token-limit"))
            let wait = try #require(answer.headers["retry-after"].flatMap { Int($0) })
            #expect((60...110).contains(wait))
            #expect(try await post(factory.cycles(0..<100), "Bearer \(Self.ios)", service).status == 200)
            #expect(
                try await service.client.metrics().value("dnp_telemetry_http_limited_total", ["limit": "token"])
                    == 1
            )
        }
    }

    @Test("a batch refused for lack of space costs its token next to nothing")
    func tokenGivenBack() async throws {
        try await MountNamespace.with { namespace in
            try await withTemporaryDirectory { directory in
                try write(Self.ios, "\(directory)/token-ios")
                try write(Self.ci, "\(directory)/token-ci")
                try await withService(
                    options: ["--credentials-dir", directory, "--token-limit", "ci=10/s"],
                    in: namespace,
                    prepare: { try await namespace.mountMemory(at: $0, options: "size=24m") },
                    { service in try await refuse(service, in: namespace) }
                )
            }
        }
    }

    private func refuse(_ service: Service, in namespace: MountNamespace) async throws {
        let filler = await service.settings.stateDirectory + "/filler"
        let fill = try await namespace.run(["/bin/sh", "-c", "cat /dev/zero > \(filler)"])
        #expect(fill.error.contains("No space left"), "\(fill.error)")
        var statuses: [Int] = []
        for number in 0..<400 where statuses.last != 503 {
            let batch = EventFactory(prefix: "full-\(number)").cycles(0..<200)
            statuses.append(try await post(batch, "Bearer \(Self.ios)", service).status)
        }
        try #require(statuses.last == 503)
        let batch = EventFactory(prefix: "charged").cycles(0..<200)
        for _ in 0..<3 { #expect(try await post(batch, "Bearer \(Self.ci)", service).status == 503) }
        try FileManager.default.removeItem(atPath: namespace.outside(filler))
        try await eventually("the batch is taken when space returns") {
            try await post(batch, "Bearer \(Self.ci)", service).status == 200
        }
        #expect(try await post(batch, "Bearer \(Self.ci)", service).status == 429)
    }

    @Test("tokens are never in the log, on the page, in the ledger or in an answer")
    func tokenSecret() async throws {
        let batch = EventFactory(prefix: "secret").cycles(0..<2)
        try await with(["--log-level", "trace"]) { service, directory in
            _ = try await post(batch, "Bearer \(Self.ios)", service).receipt()
            let wrong = try await post(batch, "Bearer \(Self.ios)-not", service)
            try write(Self.ci + " with a space", "\(directory)/token-ci")
            try await eventually("the broken file is counted") {
                try await service.client.metrics()
                    .value("dnp_telemetry_token_reloads_total", ["result": "failure"]) == 1
            }
            let state = await service.settings.stateDirectory
            let stored = try FileManager.default.contentsOfDirectory(atPath: state).map {
                text(of: "\(state)/\($0)")
            }
            let page = try await service.client.get("/metrics").text
            for place in [await service.wholeLog, page, wrong.text] + stored {
                #expect(!place.contains(Self.ios) && !place.contains(Self.ci))
            }
        }
    }

    @Test("a file without a valid token prevents the start, and is named without its content")
    func tokenUnusable() async throws {
        try await withTemporaryDirectory { directory in
            try write("sesame open", "\(directory)/token-a")
            let command = try await Command.run([
                try Service.binary(), "serve", "--listen", "127.0.0.1:0", "--journal", "off", "--state-dir",
                "\(directory)/state", "--credentials-dir", directory,
            ])
            #expect(command.status == .code(78))
            #expect(command.error.contains("\(directory)/token-a: expected a token of 16 to 4096 bytes, found 11"))
            #expect(!command.error.contains("sesame"))
        }
    }
}
