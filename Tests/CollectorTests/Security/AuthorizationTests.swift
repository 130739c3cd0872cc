// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Collector

@Suite("The header Authorization")
struct AuthorizationTests {
    @Test("is a user with a password, a token, or nothing that is understood")
    func forms() {
        let basic = Authorization.basic(user: Array("alice".utf8), password: Array("a:b".utf8))
        #expect(Authorization(nil) == .missing)
        #expect(Authorization("Basic YWxpY2U6YTpi") == basic)
        #expect(Authorization("bAsIc   YWxpY2U6YTpi") == basic)
        #expect(Authorization("Basic Og==") == .basic(user: [], password: []))
        #expect(Authorization("Bearer abc") == .bearer(Array("abc".utf8)))
        #expect(Authorization("bearer  a b") == .bearer(Array("a b".utf8)))
        for header in [
            "", " ", "Basic", "Bearer", "Bearer ", "Basic !", "Basic YWxpY2U=", "Basic YWxpY2U6YTpi, Basic x",
            "Digest a=b", "abc",
        ] {
            #expect(Authorization(header) == .malformed, "\(header)")
        }
        #expect(Authorization("Bearer " + String(repeating: "x", count: 9_000)) == .malformed)
    }

    @Test("is taken apart without harm whatever it holds")
    func anything() {
        var generator = SplitMix64(3)
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = ["", "Basic ", "Bearer "].randomElement(using: &generator).map {
                $0 + String(decoding: bytes, as: UTF8.self)
            }
            if case .bearer(let token) = Authorization(text) { #expect(token.count <= Authorization.maximumLength) }
        }
    }
}
