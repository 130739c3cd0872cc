// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState

extension OneAtATime {
    @Suite("The key of the installations")
    struct InstallationKeyTests {
        /// A key of at most 32 bytes; HMAC fills shorter keys up with zeros (RFC 2104, 2), so that the file can as well.
        static func key(_ bytes: [UInt8]) throws -> InstallationKey {
            let directory = try TemporaryDirectory()
            let padded = bytes + [UInt8](repeating: 0, count: 32 - bytes.count)
            try Files.write(padded, to: directory.file(InstallationKey.fileName))
            return try InstallationKey(directory: directory.path)
        }

        static func hex(_ key: InstallationKey, _ message: [UInt8]) -> String {
            var digits: [UInt8] = []
            key.pseudonym(of: message.span).appendHex(to: &digits)
            return String(decoding: digits, as: UTF8.self)
        }

        struct Vector: Sendable {
            let key: [UInt8]
            let message: [UInt8]
            let digest: String
        }

        /// RFC 4231, 4.2 to 4.5: the cases whose keys have no more than 32 bytes.
        static let vectors = [
            Vector(
                key: [UInt8](repeating: 0x0B, count: 20),
                message: Array("Hi There".utf8),
                digest: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            Vector(
                key: Array("Jefe".utf8),
                message: Array("what do ya want for nothing?".utf8),
                digest: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            Vector(
                key: [UInt8](repeating: 0xAA, count: 20),
                message: [UInt8](repeating: 0xDD, count: 50),
                digest: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            Vector(
                key: [UInt8](1...25),
                message: [UInt8](repeating: 0xCD, count: 50),
                digest: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
        ]

        @Test("the installation key gives the first half of HMAC-SHA-256, as RFC 4231 has it", arguments: vectors)
        func knownVectors(vector: Vector) throws {
            #expect(Self.hex(try Self.key(vector.key), vector.message) == vector.digest.prefix(32))
        }

        @Test("the installation key agrees with openssl about keys and messages of chance")
        func agreesWithOpenSSL() throws {
            var random = SplitMix64(1)
            for length in [0, 1, 36, 63, 64, 65, 256] {
                let secret = random.bytes(32)
                let message = random.bytes(length)
                let secretHex = secret.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
                let output = try Program.run(
                    "/usr/bin/openssl",
                    ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(secretHex)", "-r"],
                    input: message
                )
                let digest = String(decoding: output, as: UTF8.self).prefix(32)
                #expect(Self.hex(try Self.key(secret), message) == digest)
            }
        }

        @Test("the installation key gives other pseudonyms than another key, and other ones to other installations")
        func differs() throws {
            let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
            let first = try InstallationKey(directory: directories[0].path)
            let second = try InstallationKey(directory: directories[1].path)
            let one = Array("installation-1".utf8)
            let other = Array("installation-2".utf8)
            #expect(first.pseudonym(of: one.span) != second.pseudonym(of: one.span))
            #expect(first.pseudonym(of: one.span) != first.pseudonym(of: other.span))
        }

        @Test(
            "the installation key gives the same key of identities whenever it is loaded, and another from another file"
        )
        func identityKey() throws {
            let directory = try TemporaryDirectory()
            let elsewhere = try TemporaryDirectory()
            let id = Array("batch".utf8)
            let first = try InstallationKey(directory: directory.path).identityKey.batch(idempotencyKey: id.span)
            let again = try InstallationKey(directory: directory.path).identityKey.batch(idempotencyKey: id.span)
            let other = try InstallationKey(directory: elsewhere.path).identityKey
            #expect(first == again)
            #expect(first != other.batch(idempotencyKey: id.span))
        }
    }
}

@Suite("The key's file")
struct KeyFileTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file(InstallationKey.fileName)
    }

    @Test("the key file is made once, with 32 bytes that only its owner may read, and loaded from then on")
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

    @Test("the key file is made anew over what a crash left beside it")
    func crashWhileMaking() throws {
        try Files.write([1, 2, 3], to: path + ".new", mode: 0o644)
        _ = try InstallationKey(directory: directory.path)
        #expect(try Files.read(path).count == 32)
        #expect(try Files.mode(path) == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }

    @Test(
        "the key file is refused when others may read or write it",
        arguments: [0o640, 0o604, 0o620, 0o602, 0o644, 0o660, 0o601]
    )
    func readableByOthers(mode: Int) throws {
        let bytes = [UInt8](1...32)
        try Files.write(bytes, to: path, mode: mode)
        let error = #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
        #expect(error?.path == path)
        #expect(error?.description.contains("0600") == true)
        #expect(try Files.read(path) == bytes)
        #expect(try Files.mode(path) == mode)
    }

    @Test("the key file is loaded when only its owner may read it", arguments: [0o600, 0o400, 0o700])
    func readableByOwner(mode: Int) throws {
        try Files.write([UInt8](1...32), to: path, mode: mode)
        _ = try InstallationKey(directory: directory.path)
    }

    @Test(
        "the key file is refused when it has another size, and left as it is",
        arguments: [0, 1, 16, 31, 33, 64, 4_096]
    )
    func wrongSize(size: Int) throws {
        let bytes = [UInt8](repeating: 7, count: size)
        try Files.write(bytes, to: path)
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
        #expect(try Files.read(path) == bytes)
    }

    @Test("the key file is refused when it is a symbolic link, wherever that points")
    func symbolicLink() throws {
        let target = directory.file("target")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
        #expect(!FileManager.default.fileExists(atPath: target))

        try Files.write([UInt8](1...32), to: target)
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
    }

    @Test("the key file is refused when it is a directory")
    func isDirectory() throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
    }

    @Test("the key file is refused when it is a pipe, without waiting for a writer", .timeLimit(.minutes(1)))
    func isPipe() throws {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw Program.Failure(description: "mkfifo: \(errno)") }
        #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: directory.path) }
    }

    @Test("the key file is not made in a directory that is not there, and the error says why")
    func noDirectory() throws {
        let missing = directory.file("missing")
        let error = #expect(throws: InstallationKeyError.self) { _ = try InstallationKey(directory: missing) }
        #expect(error?.description.contains(missing) == true)
    }
}
