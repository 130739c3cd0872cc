// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("check-config")
struct CheckConfigTests {
    private struct Verdict: Decodable {
        struct Problem: Decodable {
            let file: String?
            let line: Int?
            let variable: String?
            let message: String
        }

        let verdict: String
        let problems: [Problem]
        let warnings: [Problem]
    }

    private func check(
        _ yaml: String,
        _ options: [String] = [],
        environment: [String] = []
    ) async throws -> (command: Command, path: String) {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/config.yml"
            try Data(yaml.utf8).write(to: URL(fileURLWithPath: path))
            let command = try await Command.run(
                ["/usr/bin/env"] + environment + [Service.binary(), "check-config", path] + options
            )
            return (command, path)
        }
    }

    @Test("check-config says ok, or names each problem with its line")
    func checkConfigPrintsText() async throws {
        let good = try await check("max-body: 8MiB\n")
        #expect(good.command.status == .code(0))
        #expect(good.command.text == "\(good.path): ok\n")
        let bad = try await check("max-boddy: 8MiB\n")
        #expect(bad.command.status == .code(1))
        #expect(
            bad.command.text
                == "error: \(bad.path):1: unknown key \"max-boddy\"; did you mean max-body?\n\(bad.path): 1 problem\n"
        )
        #expect(try await check("max-body: 8MiB\n", ["--quiet"]).command.text == "")
    }

    @Test("check-config --json names file, line, variable and message")
    func checkConfigPrintsJSON() async throws {
        let (command, path) = try await check(
            "listen: [a]\n",
            ["--format", "json"],
            environment: ["DNP_TELEMETRY_JOURNAL=x", "DNP_TELEMETRY_JORNAL=off"]
        )
        #expect(command.status == .code(1))
        let verdict = try JSONDecoder().decode(Verdict.self, from: command.output)
        #expect(verdict.verdict == "invalid")
        #expect(verdict.problems.map(\.line) == [1, nil])
        #expect(verdict.problems.map(\.file) == [path, nil])
        #expect(verdict.problems.map(\.variable) == [nil, "DNP_TELEMETRY_JOURNAL"])
        #expect(verdict.warnings.map(\.variable) == ["DNP_TELEMETRY_JORNAL"])
    }

    @Test("check-config names listeners of which only one can listen, however they are written")
    func listenersWithAnAddressInCommon() async throws {
        let taken = try await check(
            "listen: [\"127.0.0.1:10910\", \"localhost:10910\", \":10910\", \":10911\", \"127.0.0.2:10910\"]\n"
        )
        #expect(taken.command.status == .code(1))
        let found = taken.command.text.split(separator: "\n").map(String.init)
        #expect(
            found.contains {
                $0.hasSuffix(":1: localhost:10910 and 127.0.0.1:10910 have a place in common; list one of them")
            },
            "\(found)"
        )
        #expect(found.contains { $0.contains(":1: :10910 and 127.0.0.1:10910 have") }, "\(found)")
        #expect(!found.contains { $0.contains("10911") }, "\(found)")
        #expect(found.contains { $0.contains("127.0.0.2:10910 and :10910 have") }, "\(found)")
        let socket = try await check("listen: [unix:/tmp/a.sock, \"unix:/tmp/.//a.sock serve=lines\"]\n")
        #expect(
            socket.command.text.contains("unix:/tmp/.//a.sock and unix:/tmp/a.sock have a place in common"),
            "\(socket.command.text)"
        )
    }

    @Test("check-config names all problems at once: settings, their combinations, security files and paths")
    func checkConfigNamesEveryProblem() async throws {
        try await withTemporaryDirectory { directory in
            func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
            }
            try FileManager.default.createDirectory(
                atPath: "\(directory)/tokens",
                withIntermediateDirectories: false
            )
            try write("tokens/token-short", "short\n")
            try write("file", "")
            try FileManager.default.createSymbolicLink(atPath: "\(directory)/file2", withDestinationPath: "file")
            try write(
                "web.yml",
                """
                http_server_config: {http2: perhaps}
                basic_auth_users:
                  alice: secret
                  bob: $2y$04$short
                rate_limits: {}

                """
            )
            try write(
                "config.yml",
                """
                max-body: 1kb
                max-bytes-in-flight: 1MiB
                listen:
                  - 127.0.0.1:1
                  - 127.0.0.1:1 serve=metrics
                  - unix:\(directory)/file
                  - unix:/nowhere/http.sock group=nobody-at-all
                  - unix:/run/nowhere/http.sock
                  - no-such-host.invalid:1
                  - 192.0.2.1:1
                state-dir: file/state
                web-config: web.yml
                credentials-dir: tokens
                follow: [missing/app.log, ., file, ./file2]
                follow-journal: [+]

                """
            )
            let path = "\(directory)/config.yml"
            let command = try await Command.run([
                "/usr/bin/env", "DNP_TELEMETRY_MAX_BODDY=1", Service.binary(), "check-config", path,
            ])
            #expect(command.status == .code(1))
            let lines = command.text.replacing("\(directory)/", with: "").split(separator: "\n").map(String.init)
            let expected = [
                "error: config.yml:1: expected bytes from 1 to 64MiB",
                "error: config.yml:5: found 127.0.0.1:1 twice",
                "error: config.yml:6: expected a socket or nothing at file, found something else",
                "error: config.yml:7: /nowhere does not exist; it must be created before the service starts",
                "error: config.yml:7: there is no group \"nobody-at-all\"",
                "error: config.yml:9: cannot listen on no-such-host.invalid:1: \"no-such-host.invalid\" is not the name of an address",
                "error: config.yml:10: cannot listen on 192.0.2.1:1: this machine has no such address",
                "error: config.yml:11: expected a directory at file, found something else",
                "error: config.yml:14: cannot follow \(directory): it is a directory; name a file in it",
                "error: config.yml:14: cannot follow file2: ",
                "error: config.yml:15: cannot follow the journal: ",
                "error: tokens/token-short: expected a token of 16 to 4096 bytes, found 5",
                "error: web.yml:1: http2: expected true or false, found \"perhaps\"",
                "error: web.yml:3: \"alice\": expected a bcrypt hash",
                "error: web.yml:4: \"bob\": expected a bcrypt hash",
                "error: web.yml:5: unknown key \"rate_limits\"; did you mean rate_limit?",
                "warning: config.yml:8: /run/nowhere does not exist; it must be created before the service starts",
                "warning: config.yml:14: missing is not there yet; the service waits for it",
                "warning: DNP_TELEMETRY_MAX_BODDY: no setting has this variable; did you mean DNP_TELEMETRY_MAX_BODY?",
                "config.yml: 16 problems",
            ]
            #expect(lines.count == expected.count, "\(command.text)")
            for (line, beginning) in zip(lines, expected) { #expect(line.hasPrefix(beginning), "\(line)") }
        }
    }

    @Test("check-config warns of likely mistakes and accepts them")
    func checkConfigWarns() async throws {
        let open =
            "reload-endpoint: true\nlisten: [':1', 'unix:/tmp/dnp-telemetry-check.sock']\n"
        let (command, path) = try await check(open)
        #expect(command.status == .code(0))
        #expect(
            command.text == """
                warning: \(path):1: any client that reaches :1 can trigger a reload: serve reloads on the \
                loopback or a Unix socket, or set users or client_auth_type RequireAndVerifyClientCert in the web \
                configuration
                warning: --console: any client that reaches :1 can read cycles and events: serve the console \
                on the loopback or a Unix socket, set users in the web configuration or a read-token-NAME in \
                credentials-dir, or switch it off with console: false
                \(path): ok

                """
        )
        let closed = try await check("listen: ':1'\nconsole: false\n")
        #expect(closed.command.text == "\(closed.path): ok\n")
        for listen in [
            "127.0.0.1:1", "'[::1]:1'", "':1 serve=ingest'", "systemd", "unix:/tmp/dnp-telemetry-check.sock",
        ] {
            let local = try await check("reload-endpoint: true\nlisten: \(listen)\n")
            #expect(local.command.text == "\(local.path): ok\n")
        }
    }

    @Test("check-config --effective prints what is in force with its origin, as a file that says the same")
    func checkConfigEffective() async throws {
        let yaml = """
            listen: ['127.0.0.1:10911 serve=ingest', 'unix:/tmp/x.sock mode=0660']
            max-body: 8MiB
            token-limit: []
            follow: "/tmp/it's a \\"log\\": #1 installation=a"
            log-level: warn

            """
        let environment = ["-u", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY=/tmp", "DNP_TELEMETRY_MAX_SCRAPES=7"]
        let (first, path) = try await check(yaml, ["--effective"], environment: environment)
        #expect(first.status == .code(0) && first.error.hasSuffix("\(path): ok\n"), "\(first.error)")
        let lines = first.text.split(separator: "\n").map(String.init)
        for line in [
            "max-body: 8MiB  # \(path):2", "max-scrapes: 7  # DNP_TELEMETRY_MAX_SCRAPES",
            "journal: journald  # default",
            "state-dir: /tmp  # default", "#web-config:  # not set", "log-level: warn  # \(path):5",
            "token-limit: []  # \(path):3",
            "listen: [\"127.0.0.1:10911 serve=ingest\", \"unix:/tmp/x.sock mode=0660\"]  # \(path):1",
        ] {
            #expect(lines.contains(line), "\(line): \(first.text)")
        }
        let (second, _) = try await check(first.text, ["--effective"], environment: environment)
        func values(_ text: String) -> [String] {
            text.split(separator: "\n").map { $0.components(separatedBy: "  # ")[0] }
        }
        #expect(values(second.text) == values(first.text))
        let (json, _) = try await check(
            "max-boddy: 1\n",
            ["--effective", "--format", "json"],
            environment: environment
        )
        let object = try JSONSerialization.jsonObject(with: json.output) as? [String: Any]
        let settings = try #require(object?["settings"] as? [[String: Any]])
        #expect(json.status == .code(1) && settings.count == lines.count)
        #expect(settings.first?["name"] as? String == "listen" && settings.first?["from"] as? String == "default")
    }

    @Test("check-config ends with 2 when the file is missing")
    func checkConfigMissingFile() async throws {
        let command = try await Command.run([Service.binary(), "check-config", "/nowhere/config.yml"])
        #expect(command.status == .code(2))
        #expect(command.error.contains("/nowhere/config.yml: it cannot be read"))
        let empty = try await Command.run([
            "/usr/bin/env", "DNP_TELEMETRY_CONFIG=", Service.binary(), "check-config",
        ])
        #expect(empty.status == .code(2))
    }
}
