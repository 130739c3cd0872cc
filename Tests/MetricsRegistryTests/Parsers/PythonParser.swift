// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The parsers of prometheus_client from PyPI; the one for OpenMetrics is strict.
enum PythonParser: String {
    case openMetrics = "openmetrics"
    case text

    /// The families that the parser found; throws its error if it refuses the page.
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

    /// The root folder of the package.
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

/// A family as the parser understood it.
struct ParsedFamily: Decodable {
    let name: String
    let type: String
    let unit: String
    let help: String
    let samples: [ParsedSample]
}

/// A sample as the parser understood it.
struct ParsedSample: Decodable {
    struct Exemplar: Decodable, Equatable {
        let labels: [String: String]
        let value: String
        let timestamp: String
    }

    let name: String
    let labels: [String: String]
    /// A number formatted by Python.
    let value: String
    let exemplar: Exemplar?

    var number: Double? {
        switch value {
        case "nan": .nan
        case "inf": .infinity
        case "-inf": -.infinity
        default: Double(value)
        }
    }
}

/// The error of a parser.
struct ParserFailure: Error, CustomStringConvertible {
    let said: String
    var description: String { said }
}
