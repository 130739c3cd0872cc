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
        arguments: ["serve", "validate", "replay", "report", "check-config", "send", "health", "ledger"] + ledger
    )
    func commandHelp(command: String) async throws {
        let help = try await help(command)
        #expect(help.status == .code(0))
        #expect(help.text.contains("EXAMPLES\n  dnp-telemetry \(command) "))
        #expect(help.text.contains("EXIT STATUS\n  0 "))
    }

    @Test(
        "the help and docs/ name the same options of a command",
        arguments: ["validate", "replay", "report", "check-config", "send", "health", "ledger"]
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
        let pages = ["check-config": "configuration", "send": "send", "health": "listeners", "ledger": "ledger"]
        let page = text(of: root.appendingPathComponent("docs/\(pages[command] ?? "log-validation").md").path)
        let heading = "\n### Options of `dnp-telemetry \(command)`\n"
        let section = try #require(page.components(separatedBy: heading).last).components(separatedBy: "\n#")[0]
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `--") }
        let documented = Set(rows.map { String($0.dropFirst(3).prefix { $0 != "`" }) })
        #expect(documented == flags)
    }
}
