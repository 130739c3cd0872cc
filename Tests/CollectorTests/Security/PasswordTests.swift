// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("bcrypt")
    struct BcryptTests {
        private func hash(_ password: String, cost: Int = 4, _ version: String = "y") throws -> BcryptHash {
            let line = try Program.run("/usr/bin/htpasswd", ["-nbBC", "\(cost)", "", password])
            let text = String(decoding: line, as: UTF8.self).drop { $0 == ":" }.prefix { $0 != "\n" && $0 != "\r" }
            return try BcryptHash(text.replacing("$2y$", with: "$2\(version)$"))
        }

        @Test("bcrypt: a hash of htpasswd is met by its password and by no other", arguments: ["a", "b", "y"])
        func htpasswd(version: String) throws {
            let hash = try hash("correct horse", version)
            #expect(Bcrypt.verify(Array("correct horse".utf8), hash))
            for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct horsf"] {
                #expect(!Bcrypt.verify(Array(wrong.utf8), hash))
            }
        }

        @Test(
            "bcrypt: known vectors (John the Ripper's)",
            arguments: [
                ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
                ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
                ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
                ("", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"),
            ]
        )
        func vectors(password: String, text: String) throws {
            let hash = try BcryptHash(text)
            #expect(Bcrypt.verify(Array(password.utf8), hash))
            #expect(!Bcrypt.verify(Array((password + "x").utf8), hash))
        }

        @Test("bcrypt: only 72 bytes count, and a password that is too long or holds a zero is nobody's")
        func hostilePasswords() throws {
            let long = String(repeating: "x", count: 72)
            let hash = try hash(long)
            #expect(Bcrypt.verify(Array(long.utf8), hash))
            #expect(Bcrypt.verify(Array((long + "y").utf8), hash))
            #expect(!Bcrypt.verify(Array(long.utf8.dropLast()), hash))
            #expect(!Bcrypt.verify([UInt8](repeating: 0x78, count: Bcrypt.maximumPassword + 1), hash))
            #expect(!Bcrypt.verify(Array(long.utf8) + [0], hash))
            #expect(!Bcrypt.verify([UInt8](repeating: 0x78, count: 1 << 20), hash))
            let empty = try self.hash("")
            #expect(Bcrypt.verify([], empty))
            #expect(!Bcrypt.verify([0], empty))
            #expect(!Bcrypt.verify([0, 0x78], empty))
        }

        @Test("bcrypt: passwords of any bytes are checked without harm")
        func bcryptAnyBytes() throws {
            let hash = try hash("secret")
            var generator = SplitMix64(99)
            for _ in 0..<300 {
                let count = Int.random(in: 0...600, using: &generator)
                let password = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                #expect(!Bcrypt.verify(password, hash))
            }
        }

        @Test(
            "bcrypt: what is no hash is refused before libcrypt sees it",
            arguments: [
                "", "$", "*", "*0", "$2y$", "$2y$10$", "$1$salt$hash", "$6$salt$hash", "secret",
                "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
                "$2a$5$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeWx",
                "$2a$-5$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeWW",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC:E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC\u{0}E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCé.5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
                String(repeating: "$", count: 60),
            ]
        )
        func noHash(text: String) {
            #expect(throws: BcryptHash.Flaw.notBcrypt) { try BcryptHash(text) }
        }

        @Test(
            "bcrypt: a hash whose cost would hold up every check, or that is worth little, is refused",
            arguments: [0, 3, 15, 31, 99]
        )
        func costs(cost: Int) {
            let digits = cost < 10 ? "0\(cost)" : "\(cost)"
            #expect(throws: BcryptHash.Flaw.cost(cost)) {
                try BcryptHash("$2a$\(digits)$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
            }
        }

        @Test("bcrypt: hashes that were cut, changed or made up end in a flaw or in a check that fails")
        func fuzzedHashes() throws {
            let whole = try hash("secret")
            var generator = SplitMix64(5)
            for _ in 0..<2_000 {
                var text = whole.text
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let place = Int.random(in: 0..<text.count, using: &generator)
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: text[place] = UInt8.random(in: 1...255, using: &generator)
                    case 1: text.remove(at: place)
                    default: text.insert(UInt8.random(in: 0...127, using: &generator), at: place)
                    }
                }
                guard let changed = try? BcryptHash(String(decoding: text, as: UTF8.self)), changed.cost <= 5 else {
                    continue
                }
                let isSame = changed.text.suffix(53) == whole.text.suffix(53) && changed.cost == whole.cost
                #expect(Bcrypt.verify(Array("secret".utf8), changed) == isSame || changed.text[28] != whole.text[28])
            }
        }

        @Test("bcrypt: nobody's hash costs as much as told and is met by nothing")
        func bcryptNobody() {
            let hash = BcryptHash(ofNobodyAtCost: 4)
            #expect(hash.cost == 4)
            #expect((try? BcryptHash(String(decoding: hash.text, as: UTF8.self))) == hash)
            #expect(!Bcrypt.verify([], hash))
            #expect(BcryptHash(ofNobodyAtCost: 0).cost == 4)
            #expect(BcryptHash(ofNobodyAtCost: 90).cost == 14)
            #expect(BcryptHash(ofNobodyAtCost: 4) != hash)
        }
    }
}

extension OneAtATime {
    @Suite("Checks of passwords")
    struct PasswordCheckTests {
        private func web() throws -> WebConfiguration {
            var web = WebConfiguration()
            // "U*U" and "U*U*", John the Ripper's vectors.
            web.users = [
                "alice": try BcryptHash("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
                "bob": try BcryptHash("$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
            ]
            web.nobody = BcryptHash(ofNobodyAtCost: 5)
            return web
        }

        @Test("password checks let a user pass with the password that is theirs, again and again")
        func passwordCheckOwn() async throws {
            let (check, web) = (PasswordCheck(), try web())
            for _ in 0..<3 {
                for (user, password, expected) in [
                    ("alice", "U*U", true), ("bob", "U*U*", true), ("alice", "U*U*", false), ("bob", "U*U", false),
                    ("alice", "", false), ("carol", "U*U", false), ("", "", false), ("Alice", "U*U", false),
                ] {
                    #expect(await check.verify(user: Array(user.utf8), password: Array(password.utf8), web) == expected)
                }
            }
            #expect(await check.verify(user: [0xFF], password: Array("U*U".utf8), web) == false)
        }

        @Test("password checks forget what was right once the hash in the configuration is another")
        func passwordCheckChanged() async throws {
            let check = PasswordCheck()
            var web = try web()
            #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == true)
            web.users["alice"] = web.users["bob"]
            #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == false)
            web.users["alice"] = nil
            #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == false)
        }

        @Test("password checks are few at once: more are refused, and known passwords pass meanwhile")
        func passwordCheckBounded() async throws {
            let check = PasswordCheck()
            var web = try web()
            #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == true)
            web.nobody = BcryptHash(ofNobodyAtCost: 9)
            let (refused, isAliceLetIn) = await withTaskGroup(of: Bool?.self) { [web] group in
                for index in 0..<200 {
                    group.addTask { await check.verify(user: Array("x".utf8), password: Array("\(index)".utf8), web) }
                }
                let alice = await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web)
                var refused = 0
                for await answer in group where answer == nil { refused += 1 }
                return (refused, alice)
            }
            #expect(refused >= 1 && refused <= 200 - PasswordCheck.maximumWaiting)
            #expect(isAliceLetIn == true)
            #expect(await check.verify(user: Array("bob".utf8), password: Array("U*U*".utf8), web) == true)
        }

        @Test("password checks are remembered in bounded memory, under another key in every process")
        func remembered() throws {
            var verified = VerifiedPasswords()
            let hash = BcryptHash(ofNobodyAtCost: 4)
            for index in 0..<5_000 {
                verified.insert(verified.entry(user: Array("a".utf8), hash, password: Array("\(index)".utf8)))
                #expect(verified.count <= VerifiedPasswords.capacity)
            }
            let first = verified.entry(user: Array("ab".utf8), hash, password: Array("c".utf8))
            #expect(first == verified.entry(user: Array("ab".utf8), hash, password: Array("c".utf8)))
            #expect(first != verified.entry(user: Array("a".utf8), hash, password: Array("bc".utf8)))
            #expect(first != VerifiedPasswords().entry(user: Array("ab".utf8), hash, password: Array("c".utf8)))
        }
    }
}
