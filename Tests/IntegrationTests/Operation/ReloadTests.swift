// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOHTTP1
import TestSupport
import Testing

@Suite("the configuration file")
struct ReloadTests {
    private struct ConfigurationText {
        let path: String

        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    private static let event = Array(
        #"{"event":"prefetch_registered","timestamp":"2025-11-15T05:41:00Z"}"#.utf8
    )

    /// A service with a configuration file that the body may rewrite.
    private func withConfigured(
        _ yaml: String,
        options: [String] = [],
        _ body: (Service, ConfigurationText) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let file = ConfigurationText(path: "\(directory)/config.yml")
            try file.write(yaml)
            try await withService(options: ["--config", file.path] + options) { service in
                try await body(service, file)
            }
        }
    }

    private func statusOfPost(_ service: Service) async throws -> Int {
        try await service.client.post(Self.event, type: "application/json").status
    }

    @Test("the configuration file is used, and options override it")
    func configurationLayers() async throws {
        try await withConfigured("max-body: 10\nmetrics-path: /probe\n") { (service: Service, _) async throws in
            #expect(try await statusOfPost(service) == 413)
            #expect(try await service.client.get("/probe").status == 200)
        }
        try await withConfigured("max-body: 10\n", options: ["--max-body", "1KiB"]) {
            (service: Service, _) async throws in
            #expect(try await statusOfPost(service) == 200)
        }
    }

    @Test("SIGHUP changes hot-reloadable settings, names the rest, and is counted")
    func reloadOnHangUp() async throws {
        try await withConfigured("max-body: 1KiB\n") { service, file in
            #expect(try await statusOfPost(service) == 200)
            try file.write("max-body: 10\nlog-level: info\ndurability: power\n")
            await service.signal(SIGHUP)
            try await eventually("the new limit holds") { try await statusOfPost(service) == 413 }
            try await eventually("the rest is named") {
                let log = await service.log
                return log.contains("settings=durability") && log.contains("need a restart")
            }
            let page = try await service.client.metrics()
            #expect(page.value("dnp_telemetry_config_reloads_total", ["result": "applied"]) == 1)
            #expect(page.value("dnp_telemetry_config_last_reload_successful") == 1)
        }
    }

    @Test("a configuration file with a problem changes nothing, and the problem is reported with its line")
    func reloadRefused() async throws {
        try await withConfigured("max-body: 1KiB\n") { service, file in
            try file.write("max-body: 10\nmax-boddy: 1\n")
            await service.signal(SIGHUP)
            try await eventually("the reload is counted") {
                try await service.client.metrics()
                    .value("dnp_telemetry_config_reloads_total", ["result": "refused"]) == 1
            }
            #expect(try await statusOfPost(service) == 200)
            #expect(try await service.client.metrics().value("dnp_telemetry_config_last_reload_successful") == 0)
            #expect(await service.log.contains(":2: unknown key \"max-boddy\"; did you mean max-body?"))
        }
    }

    @Test("a configuration file with a problem beside it changes nothing, and problems of tokens keep the settings")
    func reloadAllOrNone() async throws {
        try await withTemporaryDirectory { directory in
            try Data("0123456789abcdef".utf8).write(to: URL(fileURLWithPath: "\(directory)/token-a"))
            try await withConfigured(
                "max-body: 1KiB\nreload-endpoint: true\n",
                options: ["--credentials-dir", directory]
            ) { service, file in
                try file.write("max-body: 10\nreload-endpoint: true\n")
                try Data("short".utf8).write(to: URL(fileURLWithPath: "\(directory)/token-b"))
                let refused = try await service.client.post([], type: nil, to: "/-/reload")
                #expect(refused.status == 422)
                #expect(try refused.problem().detail.contains("\(directory)/token-b: expected a token of 16"))
                let answer = try await service.client.request(
                    "/v1/events",
                    method: "POST",
                    headers: ["Content-Type": "application/json", "Authorization": "Bearer 0123456789abcdef"],
                    body: Self.event,
                    within: .seconds(30)
                )
                #expect(answer.status == 200)
                let page = try await service.client.metrics()
                #expect(page.value("dnp_telemetry_config_last_reload_successful") == 0)
                #expect(page.value("dnp_telemetry_token_last_reload_successful") == 0)
                try Data("0123456789abcdef-b".utf8).write(to: URL(fileURLWithPath: "\(directory)/token-b"))
                try await eventually("the second one has its turn") {
                    try await service.client.post([], type: nil, to: "/-/reload").status == 200
                }
                #expect(
                    try await service.client.metrics().value("dnp_telemetry_token_last_reload_successful") == 1
                )
            }
        }
    }

    @Test("POST /-/reload reloads like SIGHUP where it is enabled, and is 404 otherwise")
    func reloadEndpoint() async throws {
        try await withConfigured("max-body: 1KiB\n") { (service: Service, _) async throws in
            #expect(try await service.client.post([], type: nil, to: "/-/reload").status == 404)
        }
        try await withConfigured("reload-endpoint: true\n") { service, file in
            try file.write("reload-endpoint: true\nmax-body: 10\nlisten: ':1'\n")
            let answer = try await service.client.post([], type: nil, to: "/-/reload")
            #expect(answer.status == 200)
            #expect(answer.text == #"{"changed":["max-body"],"needsRestart":[]}"# + "\n", "an option tells listen")
            #expect(try await statusOfPost(service) == 413)
            try file.write("reload-endpoint: maybe\nmax-boddy: 1\n")
            let refused = try await awaited("the second one has its turn") {
                let answer = try await service.client.post([], type: nil, to: "/-/reload")
                return answer.status == 429 ? nil : answer
            }
            #expect(refused.status == 422)
            #expect(refused.text.contains("config.yml:2: unknown key \\\"max-boddy\\\"; did you mean max-body?"))
            #expect(refused.text.contains("config.yml:1: expected true or false, found \\\"maybe\\\""))
            #expect(try await service.client.get("/-/reload").status == 405)
        }
    }

    @Test("token limits without tokens are refused at a reload, and prevent the start with status 78")
    func reloadLimitsWithoutTokens() async throws {
        let expected = "--token-limit: expected tokens beside it, in files token-NAME, found none"
        try await withConfigured("reload-endpoint: true\n") { service, file in
            try file.write("reload-endpoint: true\ntoken-limit: a=1/s\nmax-body: 10\n")
            let refused = try await service.client.post([], type: nil, to: "/-/reload")
            #expect(refused.status == 422)
            #expect(try refused.problem().detail.contains(expected))
            #expect(try await statusOfPost(service) == 200)
            let command = try await Command.run([
                Service.binary(), "serve", "--config", file.path, "--journal", "off", "--listen", "127.0.0.1:0",
                "--state-dir", "\(file.path)-state",
            ])
            #expect(command.status == .code(78))
            #expect(command.error.contains(expected))
        }
    }

    @Test("reloads over HTTP are limited to one a second, and the refusal says when to retry")
    func reloadPaced() async throws {
        try await withConfigured("reload-endpoint: true\n") { (service: Service, _) async throws in
            let client = await service.client
            let clock = ContinuousClock()
            let start = clock.now
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<200 {
                    group.addTask { try await client.post([], type: nil, to: "/-/reload") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let reloads =
                try await client.metrics()
                .value("dnp_telemetry_config_reloads_total", ["result": "applied"]) ?? 0
            let seconds = (clock.now - start) / .seconds(1)
            #expect(reloads >= 1 && reloads <= 1 + seconds)
            let refused = answers.filter { $0.status == 429 }
            #expect(Double(answers.count { $0.status == 200 }) == reloads && refused.count + Int(reloads) == 200)
            #expect(!refused.isEmpty)
            for answer in refused {
                #expect(try answer.problem().type == "urn:dnp-telemetry:problem:reloaded-just-now")
                #expect((1...3).contains(Int(answer.headers["retry-after"] ?? "") ?? 0))
            }
        }
    }

    @Test(
        "an unprotected reload endpoint or console is warned of at the start, one behind users or on loopback is not"
    )
    func reloadExposed() async throws {
        let warning = "can trigger a reload"
        let console = "can read cycles and events"
        try await withConfigured("reload-endpoint: true\n", options: ["--listen", "0.0.0.0:0"]) {
            (service: Service, _) async throws in
            #expect(await service.log.contains(warning))
            #expect(await service.log.contains(console))
        }
        try await withConfigured("reload-endpoint: true\n") { (service: Service, _) async throws in
            #expect(await !service.log.contains(warning))
            #expect(await !service.log.contains(console))
        }
        try await withTemporaryDirectory { directory in
            let users = "basic_auth_users: {alice: \(try await WebConfigurationFile.hash("wonderland"))}\n"
            let web = try WebConfigurationFile(users, in: directory)
            let options = ["--listen", "0.0.0.0:0", "--web-config", web.path, "--reload-endpoint"]
            try await withService(options: options, asksWhetherReady: false) { service in
                #expect(await !service.log.contains(warning))
                #expect(await !service.log.contains(console))
            }
            try Files.write(Array("reading-0123456789".utf8), to: "\(directory)/read-token-ci")
            let token = ["--listen", "0.0.0.0:0", "--credentials-dir", directory]
            try await withService(options: token) { service in
                #expect(await !service.log.contains(console))
            }
        }
    }

    @Test("a configuration file with problems prevents the start with status 78, and each problem is reported once")
    func configurationPreventsStart() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/config.yml"
            try Data("state-dir: \(directory)/state\nmax-body: x\nlisen: ':0'\n".utf8)
                .write(to: URL(fileURLWithPath: path))
            let command = try await Command.run([Service.binary(), "serve", "--config", path])
            #expect(command.status == .code(78))
            #expect(command.error.contains("\(path):3: unknown key \"lisen\"; did you mean listen?"))
            #expect(command.error.contains("\(path):2: expected bytes from 1 to 64MiB"))
            #expect(command.error.split(separator: "\n").count == 2, "\(command.error)")
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/state"))
            let web = try await Command.run([
                Service.binary(), "serve", "--listen", "127.0.0.1:0", "--journal", "off", "--state-dir",
                "\(directory)/state", "--web-config", path,
            ])
            #expect(web.status == .code(78))
            #expect(web.error.contains("\(path):1: unknown key \"state-dir\""), "\(web.error)")
            let empty = try await Command.run([
                "/usr/bin/env", "DNP_TELEMETRY_WEB_CONFIG=", Service.binary(), "serve", "--listen", "127.0.0.1:0",
                "--journal", "off", "--state-dir", "\(directory)/state",
            ])
            #expect(empty.status == .code(78))
            #expect(empty.error.contains("DNP_TELEMETRY_WEB_CONFIG: expected a path, found nothing"))
        }
    }
}
