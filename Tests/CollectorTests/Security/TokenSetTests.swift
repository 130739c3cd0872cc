// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("Tokens")
struct TokenSetTests {
    static let tokens = ["ios": "0123456789abcdef", "android": "fedcba9876543210", "ci": "0123456789abcdee"]
    let set = TokenSet(tokens.map { BearerToken(name: $0.key, bytes: Array($0.value.utf8)) })

    @Test("each is known by its name")
    func names() {
        #expect(set.names == ["android", "ci", "ios"])
        for (name, token) in Self.tokens { #expect(set.name(of: Array(token.utf8)) == name) }
    }

    @Test("no other bytes are one")
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

    @Test("are neither in a description nor in a dump")
    func secret() {
        var text = "\(set) \(String(reflecting: set))"
        dump(set, to: &text)
        for token in Self.tokens.values { #expect(!text.contains(token)) }
    }

    @Test(
        "are refused when they are short, long or cannot stand in a header",
        arguments: [
            ("", "an empty file"), ("0123456789abcde", "found 15"),
            (String(repeating: "x", count: 4_097), "found more"),
            ("0123456789 abcdef", "others"), ("0123456789\nabcdef", "others"), ("0123456789abcdefé", "others"),
            ("\u{FEFF}0123456789abcdef", "others"),
        ]
    )
    func refused(token: String, found: String) throws {
        let complaint = try #require(BearerToken.complaint(about: Array(token.utf8)))
        #expect(complaint.contains(found))
        #expect(token.isEmpty || !complaint.contains(token))
        #expect(BearerToken.complaint(about: Array("0123456789abcdef".utf8)) == nil)
    }

    @Test("have names of few characters")
    func nameRules() {
        for name in ["a", "ios-14.2_beta", String(repeating: "n", count: 64)] { #expect(BearerToken.isName(name)) }
        for name in ["", "a b", "a\n", "é", "a/b", "a\"", String(repeating: "n", count: 65)] {
            #expect(!BearerToken.isName(name))
        }
    }
}
