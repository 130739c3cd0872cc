// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LedgerState

@Suite("The key's file")
struct KeyFileTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file(InstallationKey.fileName)
    }

    @Test("is made once, with 32 bytes that only its owner may read, and loaded from then on")
    func madeOnce() throws {
        let first = try InstallationKey(directory: directory.path)
        let bytes = try Files.read(path)
        #expect(bytes.count == 32)
        #expect(Set(bytes).count > 8)
        #expect(try Files.mode(path) == 0o600)

        let second = try InstallationKey(directory: directory.path)
        #expect(try Files.read(path) == bytes)
        let id = Array("installation-1".utf8)
        #expect(first.pseudonym(of: id.span) == second.pseudonym(of: id.span))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [InstallationKey.fileName])
    }

    @Test("is made anew over what a crash left beside it")
    func crashWhileMaking() throws {
        try Files.write([1, 2, 3], to: path + ".new", mode: 0o644)
        _ = try InstallationKey(directory: directory.path)
        #expect(try Files.read(path).count == 32)
        #expect(try Files.mode(path) == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }

    @Test("is refused when others may read or write it", arguments: [0o640, 0o604, 0o620, 0o602, 0o644, 0o660, 0o601])
    func readableByOthers(mode: Int) throws {
        let bytes = [UInt8](1...32)
        try Files.write(bytes, to: path, mode: mode)
        let error = #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
        #expect(error?.path == path)
        #expect(error?.description.contains("0600") == true)
        #expect(try Files.read(path) == bytes)
        #expect(try Files.mode(path) == mode)
    }

    @Test("is loaded when only its owner may read it", arguments: [0o600, 0o400, 0o700])
    func readableByOwner(mode: Int) throws {
        try Files.write([UInt8](1...32), to: path, mode: mode)
        _ = try InstallationKey(directory: directory.path)
    }

    @Test("is refused when it has another size, and left as it is", arguments: [0, 1, 16, 31, 33, 64, 4_096])
    func wrongSize(size: Int) throws {
        let bytes = [UInt8](repeating: 7, count: size)
        try Files.write(bytes, to: path)
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
        #expect(try Files.read(path) == bytes)
    }

    @Test("is refused when it is a symbolic link, wherever that points")
    func symbolicLink() throws {
        let target = directory.file("target")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
        #expect(!FileManager.default.fileExists(atPath: target))

        try Files.write([UInt8](1...32), to: target)
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
    }

    @Test("is refused when it is a directory")
    func isDirectory() throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
    }

    @Test("is refused when it is a pipe, without waiting for a writer", .timeLimit(.minutes(1)))
    func isPipe() throws {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw Program.Failure(description: "mkfifo: \(errno)") }
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
    }

    @Test("is not made in a directory that is not there, and the error says why")
    func noDirectory() throws {
        let missing = directory.file("missing")
        let error = #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: missing) }
        #expect(error?.description.contains(missing) == true)
    }
}
