// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("help")
struct HelpTests {
    private static let ledger = ["ledger dump", "ledger verify", "ledger rebuild"]

    private func help(_ command: String) async throws -> Command {
        let words = command.split(separator: " ").map(String.init)
        return try await Command.run([Service.binary()] + words + ["--help"])
    }

    @Test(
        "the help of every command has examples and exit statuses",
        arguments: ["serve", "validate", "replay", "report", "check-config", "send", "health", "ledger", "simulate"]
            + ledger
    )
    func commandHelp(command: String) async throws {
        let help = try await help(command)
        #expect(help.status == .code(0))
        #expect(help.text.contains("EXAMPLES\n  dnp-telemetry \(command) "))
        #expect(help.text.contains("EXIT STATUS\n  0 "))
        let examples = help.text.components(separatedBy: "EXAMPLES\n").last?.components(separatedBy: "\n\n").first ?? ""
        let wrapped = examples.split(separator: "\n").filter { !$0.hasPrefix("  ") }
        #expect(wrapped.isEmpty, "examples fit into 80 columns, so that they can be copied")
    }

    @Test("serve --help has every setting in one of its groups")
    func serveGroups() async throws {
        let shown = try await help("serve").text
        let groups = [
            "LISTENING AND ACCESS", "LEDGER AND JOURNAL", "LOG SOURCES", "OTHER SYSTEMS", "LIMITS", "TIMES",
            "METRICS AND LOG",
        ]
        let parts = shown.split(separator: "\n\n").filter { part in groups.contains { part.hasPrefix("\($0):\n") } }
        #expect(parts.map { $0.prefix { $0 != ":" } } == groups.map { $0[...] })
        let page = text(of: URL.repository.appendingPathComponent("docs/configuration.md").path)
        let settings = page.matches(of: #/(?m)^\| `([a-z-]+)` \| [^|]* \| [^|]* \| (?:yes)? \|$/#).map {
            String($0.output.1)
        }
        #expect(settings.count >= 40)
        for setting in settings {
            let places = parts.filter { $0.contains("\n  --\(setting)") }
            #expect(places.count >= 1, "\(setting)")
        }
    }

    @Test("the examples of serve --help can be copied: each is read as it stands")
    func serveExamples() async throws {
        let text = try await help("serve").text
        let section = try #require(
            text.components(separatedBy: "EXAMPLES\n").last?.components(separatedBy: "\n\n").first
        )
        let lines = section.replacing("\\\n", with: "")
        let examples = lines.split(separator: "\n").compactMap {
            $0.components(separatedBy: "dnp-telemetry serve").last
        }
        #expect(examples.count >= 6)
        // Read all at once. A file that is missing is found after all options are read, and keeps the service from starting.
        let command = "exec \(try Service.binary()) serve\(examples.joined()) --config /nowhere/x.yml"
        let done = try await Command.run(["/bin/sh", "-c", command])
        #expect(done.status == .code(78), "\(command): \(done.error)")
        #expect(done.error == "Error: /nowhere/x.yml: there is no such file\n", "\(command)")
    }

    @Test(
        "the help and docs/ name the same options of a command",
        arguments: ["validate", "replay", "report", "check-config", "send", "health", "ledger", "simulate"]
    )
    func helpMatchesDocuments(command: String) async throws {
        var flags: Set<String> = []
        for command in command == "ledger" ? Self.ledger : [command] {
            let text = try await help(command).text
            flags.formUnion(text.matches(of: #/(?m)^\s+(?:-h, )?(--[a-z-]+)/#).map { String($0.output.1) })
        }
        flags.subtract(["--help", "--version"])
        let root = Sample.directory.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let pages = [
            "check-config": "configuration", "send": "send", "health": "listeners", "ledger": "ledger",
            "simulate": "simulator",
        ]
        let page = text(of: root.appendingPathComponent("docs/\(pages[command] ?? "log-validation").md").path)
        let heading = "\n### Options of `dnp-telemetry \(command)`\n"
        let section = try #require(page.components(separatedBy: heading).last).components(separatedBy: "\n#")[0]
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `--") }
        let documented = Set(rows.map { String($0.dropFirst(3).prefix { $0 != "`" }) })
        #expect(documented == flags)
    }
}
