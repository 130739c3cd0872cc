// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs programs of the system and waits for them; what they read and write are files, so that no pipe can fill.
package enum Program {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Runs a program with `input` as its standard input and returns its standard output.
    @discardableResult
    package static func run(_ path: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        try Files.write(input, to: directory.file("input"))
        try Files.write([], to: directory.file("output"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.file("input")))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("output")))
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(path) \(arguments) ended with \(process.terminationStatus)")
        }
        return try Files.read(directory.file("output"))
    }

    package static func gzip(_ content: [UInt8], level: Int = 6) throws -> [UInt8] {
        try run("/bin/gzip", ["-c", "-n", "-\(level)"], input: content)
    }
}
