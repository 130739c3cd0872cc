// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

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

    @Test("let a user pass with the password that is theirs, again and again")
    func own() async throws {
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

    @Test("forget what was right once the hash in the configuration is another")
    func changed() async throws {
        let check = PasswordCheck()
        var web = try web()
        #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == true)
        web.users["alice"] = web.users["bob"]
        #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == false)
        web.users["alice"] = nil
        #expect(await check.verify(user: Array("alice".utf8), password: Array("U*U".utf8), web) == false)
    }

    @Test("are few at once: more are refused, and known passwords pass meanwhile")
    func bounded() async throws {
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

    @Test("are remembered in bounded memory, under another key in every process")
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
