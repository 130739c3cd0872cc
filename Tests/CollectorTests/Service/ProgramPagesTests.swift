// SPDX-License-Identifier: Apache-2.0

import CProgramPages
import Foundation
import Testing

struct ProgramPagesTests {
    @Test("pages of code that are given back are resident no longer, and the program goes on")
    func pagesAreGivenBack() throws {
        let before = try Self.residentOfFiles()
        let code = program_pages_release()
        let after = try Self.residentOfFiles()
        #expect(code > 1 << 20)
        // Several megabytes are; the kernel counts in batches of some hundred kilobytes.
        #expect(after < before - 1_024)
    }

    /// Kilobytes of files' pages (proc(5), `/proc/PID/status`).
    private static func residentOfFiles() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }
}
