// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("hints on the command line")
struct UsageHintTests {
    @Test(
        "what comparable programs call a flag, and a misspelt command, get a hint at what it is called here",
        arguments: [
            (["serve", "--web.listen-address=:9090"], "--web.listen-address is --listen of dnp-telemetry serve."),
            (["--config.file", "x"], "--config.file is --config of dnp-telemetry serve."),
            (["serve", "-log.level=warn"], "-log.level is --log-level of dnp-telemetry serve."),
            (["sevre", "--quiet"], "did you mean dnp-telemetry serve?"),
            (["ledger", "dmup"], "did you mean dnp-telemetry ledger dump?"),
            (["version"], "--version shows the version."),
        ] as [([String], String)]
    )
    func hint(arguments: [String], expected: String) async throws {
        let command = try await Command.telemetry(arguments)
        #expect(command.status == .code(64))
        #expect(
            command.error.hasPrefix("Error: ") && command.error.hasSuffix("\nHint: \(expected)\n"),
            "\(command.error)"
        )
    }

    @Test("what means nothing here gets no hint, and a misspelt option its nearest name")
    func noHint() async throws {
        let unknown = try await Command.telemetry("completely-else")
        #expect(unknown.status == .code(64) && !unknown.error.contains("Hint"))
        let option = try await Command.telemetry("serve", "--lisen", ":1")
        #expect(option.status == .code(64) && option.error.contains("Did you mean '--listen'?"))
        let kind = try await Command.telemetry("ledger", "dump", "--kind", "prefetch_sucess", "--state-dir", "/nowhere")
        #expect(kind.error.contains("found \"prefetch_sucess\"; did you mean prefetch_success?"), "\(kind.error)")
    }

    @Test("--version names version, commit, Swift and platform on one line")
    func version() async throws {
        let command = try await Command.telemetry("--version")
        #expect(command.status == .code(0))
        let form =
            #/\d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{12}(-dirty)?), Swift \d+\.\d+( or later)?, (linux|macos)/\w+\)\n/#
        #expect(command.text.wholeMatch(of: form) != nil, "\(command.text)")
    }
}
