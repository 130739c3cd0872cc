// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("check-config")
    struct CheckConfig {
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

        @Test("says ok, or each problem with its line")
        func text() async throws {
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

        @Test("as JSON names file, line, variable and message")
        func json() async throws {
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

        @Test("a file that is not there is exit status 2")
        func missing() async throws {
            let command = try await Command.run([Service.binary(), "check-config", "/nowhere/config.yml"])
            #expect(command.status == .code(2))
            #expect(command.error.contains("/nowhere/config.yml: it cannot be read"))
            let empty = try await Command.run([
                "/usr/bin/env", "DNP_TELEMETRY_CONFIG=", Service.binary(), "check-config",
            ])
            #expect(empty.status == .code(2))
        }
    }
}
