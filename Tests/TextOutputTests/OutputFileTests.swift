// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import TextOutput

@Suite("Output files")
struct OutputFileTests {
    let directory: TemporaryDirectory
    var path: String { directory.file("run.json") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("output files are written whole and leave nothing beside them")
    func outputFileWritten() throws {
        let content = [UInt8](repeating: 7, count: 3_000_000)
        try OutputFile.write(content, to: path, mayReplace: false)
        #expect(try Files.read(path) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["run.json"])
    }

    @Test("an output file that exists stays unless it may be replaced")
    func outputFileReplaced() throws {
        try Files.write([1], to: path)
        let error = #expect(throws: OutputError.self) { try OutputFile.write([2], to: path, mayReplace: false) }
        #expect(error?.description.contains("--force") == true)
        #expect(try Files.read(path) == [1])
        try OutputFile.write([2], to: path, mayReplace: true)
        #expect(try Files.read(path) == [2])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["run.json"])
    }

    @Test("output to a device is written in place")
    func special() throws {
        try OutputFile.write([1], to: "/dev/null", mayReplace: true)
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
        #expect(throws: OutputError.self) { try OutputFile.write([1], to: "/dev/full", mayReplace: true) }
    }

    @Test("output files behind a symbolic link are replaced, and the link stays")
    func links() throws {
        try Files.write([1], to: path)
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try OutputFile.write([2], to: link, mayReplace: true)
        #expect(try Files.read(path) == [2])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        let pipe = Pipe()
        let end = "/proc/self/fd/\(pipe.fileHandleForWriting.fileDescriptor)"
        try OutputFile.write([3], to: end, mayReplace: true)
        #expect(Array(pipe.fileHandleForReading.availableData) == [3])
    }

    @Test("an output file without a directory is an error that says so")
    func nowhere() {
        let error = #expect(throws: OutputError.self) {
            try OutputFile.write([1], to: directory.file("no/run.json"), mayReplace: true)
        }
        #expect(error?.problem == "there is no such directory")
        #expect(throws: OutputError.self) { try OutputFile.write([1], to: directory.path, mayReplace: true) }
    }
}
