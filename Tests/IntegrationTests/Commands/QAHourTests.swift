// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The commands of docs/qa-hour.md, run one after the other in a copy of its directory.
@Suite("An hour of QA")
struct QAHourTests {
    struct Step {
        let command: String
        let output: String
    }

    static func steps() -> [Step] {
        let page = text(of: URL.repository.appendingPathComponent("docs/qa-hour.md").path)
        return page.components(separatedBy: "```console\n$ ").dropFirst().compactMap { block in
            guard let body = block.components(separatedBy: "\n```").first, let end = body.firstIndex(of: "\n") else {
                return nil
            }
            return Step(command: String(body[..<end]), output: String(body[body.index(after: end)...]))
        }
    }

    @Test("every command of docs/qa-hour.md prints what the page says")
    func commandsOfThePage() async throws {
        let steps = Self.steps()
        #expect(steps.count >= 10)
        try await withTemporaryDirectory { directory in
            let work = "\(directory)/qa"
            try FileManager.default.copyItem(atPath: Sample.path("qa-hour"), toPath: work)
            let programs = "\(directory)/bin"
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(programs)/dnp-telemetry",
                withDestinationPath: Service.binary()
            )
            for step in steps {
                let script = "cd \"$1\" && export TZ=UTC PATH=\"$2:$PATH\" && { \(step.command); } 2>&1"
                let done = try await Command.run(["/bin/sh", "-c", script, "sh", work, programs])
                #expect(done.text.trimmingCharacters(in: .newlines) == step.output, "\(step.command)")
            }
        }
    }
}
