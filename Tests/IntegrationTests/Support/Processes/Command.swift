// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A command that was run to its end.
struct Command {
    let status: ExitStatus
    let output: Data
    let error: String

    var text: String { String(decoding: output, as: UTF8.self) }

    static func run(
        _ arguments: [String],
        input: String? = nil,
        within limit: Duration = .seconds(60)
    ) async throws -> Command {
        try await withTemporaryDirectory { directory in
            var arguments = arguments
            if let input {
                try Data(input.utf8).write(to: URL(fileURLWithPath: "\(directory)/input"))
                arguments = ["/bin/sh", "-c", "exec \"$@\" < '\(directory)/input'", "sh"] + arguments
            }
            let process = try ChildProcess(arguments, logs: directory, name: "command")
            do {
                let status = try await process.waitForExit(within: limit)
                return Command(status: status, output: process.output, error: process.errorText)
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }
}
