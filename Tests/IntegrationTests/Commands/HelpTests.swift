// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("help")
    struct Help {
        @Test("of a command has examples and exit statuses", arguments: ["serve", "validate", "replay", "report"])
        func help(command: String) async throws {
            let help = try await Command.telemetry(command, "--help")
            #expect(help.status == .code(0))
            #expect(help.text.contains("EXAMPLES\n  dnp-telemetry \(command) "))
            #expect(help.text.contains("EXIT STATUS\n  0 "))
        }

        @Test("and the README name the same options", arguments: ["validate", "replay", "report"])
        func documented(command: String) async throws {
            let help = try await Command.telemetry(command, "--help")
            let flags = Set(help.text.matches(of: #/(?m)^\s+(?:-h, )?(--[a-z-]+)/#).map { String($0.output.1) })
                .subtracting(["--help", "--version"])
            let root = Sample.directory.deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let readme = text(of: root.appendingPathComponent("README.md").path)
            let heading = "\n### Options of `dnp-telemetry \(command)`\n"
            let section = try #require(readme.components(separatedBy: heading).last).components(separatedBy: "\n#")[0]
            let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `--") }
            let documented = Set(rows.map { String($0.dropFirst(3).prefix { $0 != "`" }) })
            #expect(documented == flags)
        }
    }
}
