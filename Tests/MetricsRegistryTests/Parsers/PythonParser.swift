// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The parser of PyPI's prometheus_client, that of OpenMetrics being the strict one.
///
/// `make test` installs it into `.build-python`; without it a test fails.
enum PythonParser: String {
    case openMetrics = "openmetrics"
    case text

    /// What the parser found on the page; throws what it says when it refuses it.
    func read(_ page: [UInt8]) throws -> [ParsedFamily] {
        let root = try Self.root()
        let python = root.appending(path: ".build-python/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: python.path) else {
            throw ParserFailure(said: "prometheus_client is missing: run `make .build-python/installed`")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "page")
        try Data(page).write(to: file)
        let process = Process()
        process.executableURL = python
        process.arguments = [root.appending(path: "Tests/Parsers/read_page.py").path, rawValue]
        process.standardInput = try FileHandle(forReadingFrom: file)
        let errors = folder.appending(path: "errors")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let found = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ParserFailure(said: String(decoding: try Data(contentsOf: errors).prefix(2_000), as: UTF8.self))
        }
        return try JSONDecoder().decode([ParsedFamily].self, from: found)
    }

    /// The package's folder.
    private static func root() throws -> URL {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            if FileManager.default.fileExists(atPath: folder.appending(path: "Tests/Parsers/read_page.py").path) {
                return folder
            }
            folder.deleteLastPathComponent()
        }
        throw ParserFailure(said: "Tests/Parsers is missing")
    }
}
