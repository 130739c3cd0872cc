// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@testable import Collector

@Suite("Tokens")
struct TokenSetTests {
    static let tokens = ["ios": "0123456789abcdef", "android": "fedcba9876543210", "ci": "0123456789abcdee"]
    let set = TokenSet(tokens.map { BearerToken(name: $0.key, bytes: Array($0.value.utf8)) })

    @Test("each token is known by its name")
    func tokenSetNames() {
        #expect(set.names == ["android", "ci", "ios"])
        for (name, token) in Self.tokens { #expect(set.name(of: Array(token.utf8)) == name) }
    }

    @Test("no other bytes are a token")
    func wrong() {
        let token = Array("0123456789abcdef".utf8)
        #expect(set.name(of: []) == nil)
        #expect(set.name(of: token + token) == nil)
        #expect(set.name(of: token.dropLast()) == nil)
        #expect(set.name(of: token + [0]) == nil)
        #expect(set.name(of: [UInt8](repeating: 0x30, count: 1 << 20)) == nil)
        for index in token.indices {
            for bit in 0..<8 {
                var changed = token
                changed[index] ^= 1 << bit
                #expect(set.name(of: changed) == (changed == Array("0123456789abcdee".utf8) ? "ci" : nil))
            }
        }
        #expect(TokenSet.none.name(of: token) == nil)
        #expect(TokenSet.none.isEmpty)
    }

    @Test("tokens are neither in a description nor in a dump")
    func secret() {
        var text = "\(set) \(String(reflecting: set))"
        dump(set, to: &text)
        for token in Self.tokens.values { #expect(!text.contains(token)) }
    }

    @Test(
        "tokens are refused when they are short, long or cannot stand in a header",
        arguments: [
            ("", "an empty file"), ("0123456789abcde", "found 15"),
            (String(repeating: "x", count: 4_097), "found more"),
            ("0123456789 abcdef", "others"), ("0123456789\nabcdef", "others"), ("0123456789abcdefé", "others"),
            ("\u{FEFF}0123456789abcdef", "others"),
        ]
    )
    func tokenSetRefused(token: String, found: String) throws {
        let complaint = try #require(BearerToken.complaint(about: Array(token.utf8)))
        #expect(complaint.contains(found))
        #expect(token.isEmpty || !complaint.contains(token))
        #expect(BearerToken.complaint(about: Array("0123456789abcdef".utf8)) == nil)
    }

    @Test("tokens have names of few characters")
    func nameRules() {
        for name in ["a", "ios-14.2_beta", String(repeating: "n", count: 64)] { #expect(BearerToken.isName(name)) }
        for name in ["", "a b", "a\n", "é", "a/b", "a\"", String(repeating: "n", count: 65)] {
            #expect(!BearerToken.isName(name))
        }
    }
}

extension OneAtATime {
    @Suite("The directory of the tokens")
    struct TokenDirectoryTests {
        private let token = "0123456789abcdef"

        private func directory(_ files: [String: String]) throws -> TemporaryDirectory {
            let directory = try TemporaryDirectory()
            for (name, content) in files { try Files.write(Array(content.utf8), to: directory.file(name)) }
            return directory
        }

        private func problem(_ directory: String) -> String? {
            do throws(ConfigurationProblem) {
                _ = try TokenDirectory.read(directory)
                return nil
            } catch {
                return error.description
            }
        }

        @Test(
            "the token directory gives the tokens by the names of their files, a line's end at the end or not, and nothing else"
        )
        func tokenDirectoryRead() throws {
            let directory = try directory([
                "token-ios": token, "token-android": token + "2\n", "token-ci": token + "3\r\n", "other": "x",
                "token": "y",
                ".token-hidden": "z", "token-ios~": token, "token-ios.swp": "binary", ".token-ios.swp": "binary",
                "..2024_01": "",
            ])
            let tokens = try TokenDirectory.read(directory.path)
            #expect(tokens.map(\.name) == ["android", "ci", "ios"])
            #expect(tokens.map { String(decoding: $0.bytes, as: UTF8.self) } == [token + "2", token + "3", token])
        }

        @Test(
            "the token directory with a file that cannot be taken is an error that names the file and not what is in it"
        )
        func tokenDirectoryProblems() throws {
            let name = "expected a name of 1 to 64 letters, digits, \".\", \"_\" and \"-\" behind \"token-\""
            let cases: [(name: String, content: String, expected: String)] = [
                ("token-a", "", "expected a token, found an empty file"),
                ("token-a", "\n", "expected a token, found an empty file"),
                ("token-a", "sesame", "expected a token of 16 to 4096 bytes, found 6"),
                ("token-a", token + "\n\n", "expected a token of visible ASCII characters in one line, found others"),
                ("token-a", String(repeating: "sesame", count: 10_000), "expected at most 4098 bytes, found more"),
                ("token-", token, name),
                ("token-a b", token, name),
                ("token-b", token + "0", "expected a token of its own, found that of token-a0"),
            ]
            for (name, content, expected) in cases {
                let directory = try directory(["token-a0": token + "0\n", name: content])
                #expect(problem(directory.path) == "\(directory.file(name)): \(expected)")
                #expect(problem(directory.path)?.contains("sesame") == false)
            }
        }

        @Test("the token directory is read as the secrets of a container are mounted, and follows their exchange")
        func mounted() throws {
            let directory = try TemporaryDirectory()
            let manager = FileManager.default
            for (version, token) in [("..2024_01", token), ("..2024_02", token + "2")] {
                try manager.createDirectory(atPath: directory.file(version), withIntermediateDirectories: false)
                try Files.write(Array(token.utf8), to: directory.file("\(version)/token-a"))
            }
            try manager.createSymbolicLink(atPath: directory.file("..data"), withDestinationPath: "..2024_01")
            try manager.createSymbolicLink(atPath: directory.file("token-a"), withDestinationPath: "..data/token-a")
            #expect(try TokenDirectory.read(directory.path).map(\.bytes) == [Array(token.utf8)])
            let before = TokenDirectory.stamp(directory.path)
            try manager.createSymbolicLink(atPath: directory.file("..new"), withDestinationPath: "..2024_02")
            #expect(unsafe rename(directory.file("..new"), directory.file("..data")) == 0)
            #expect(TokenDirectory.stamp(directory.path) != before)
            #expect(try TokenDirectory.read(directory.path).map(\.bytes) == [Array((token + "2").utf8)])
        }

        @Test("the token directory with a directory in place of a token is an error that names it")
        func nested() throws {
            let directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: directory.file("token-a"),
                withIntermediateDirectories: false
            )
            #expect(problem(directory.path) == "\(directory.file("token-a")): it is a directory")
        }

        @Test("the token directory is an error when it is missing, and never waits for a pipe")
        func tokenDirectoryUnreadable() throws {
            let directory = try TemporaryDirectory()
            #expect(
                problem(directory.file("none"))?.hasPrefix("\(directory.file("none")): expected the directory") == true
            )
            try Program.run("/usr/bin/mkfifo", [directory.file("token-pipe")])
            #expect(problem(directory.path) == "\(directory.file("token-pipe")): it is no regular file")
        }

        @Test("the token directory holds a bounded number of tokens")
        func tokenDirectoryBounded() throws {
            let directory = try TemporaryDirectory()
            for index in 0...TokenDirectory.maximumTokens {
                #expect(index == 0 || problem(directory.path) == nil)
                try Files.write(Array("\(token)\(index)".utf8), to: directory.file("token-\(index)"))
            }
            #expect(problem(directory.path)?.contains("expected at most 256 tokens") == true)
        }

        @Test(
            "the token directory has a stamp that changes when a token comes, goes or is exchanged, also behind a link"
        )
        func stamp() throws {
            let directory = try directory(["first": token, "second": token + "2"])
            var stamps = [TokenDirectory.stamp(directory.path)]
            let link = directory.file("token-a")
            let manager = FileManager.default
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "first")
            stamps.append(TokenDirectory.stamp(directory.path))
            #expect(try TokenDirectory.read(directory.path).map(\.bytes) == [Array(token.utf8)])
            try manager.removeItem(atPath: link)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "second")
            stamps.append(TokenDirectory.stamp(directory.path))
            try Files.write(Array((token + "3").utf8), to: directory.file("second"))
            stamps.append(TokenDirectory.stamp(directory.path))
            try manager.removeItem(atPath: link)
            stamps.append(TokenDirectory.stamp(directory.path))
            #expect(Set(stamps).count == stamps.count)
            #expect(TokenDirectory.stamp(directory.path) == stamps.last)
        }
    }
}
