// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prometheus' own checker of pages in text 0.0.4.
enum Promtool {
    /// The exit status, 0 when there is nothing to say and 3 when it dislikes names, and what it said.
    static func check(_ page: [UInt8]) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID()).prom")
        try Data(page).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["promtool", "check", "metrics"]
        process.standardInput = try FileHandle(forReadingFrom: file)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
}
