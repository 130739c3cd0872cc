// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Hashing

/// The bytes of hexadecimal digits.
private func bytes(_ digits: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = digits[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        result.append(byte)
        rest = rest.dropFirst(2)
    }
    return result
}

@Suite("SHA-256")
struct SHA256HashTests {
    /// NIST, "SHA-256 examples" of FIPS 180-4 and the Cryptographic Algorithm Validation Program's short messages.
    @Test(
        "SHA-256 gives the digests of FIPS 180-4's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
                    + "nopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ]
    )
    func publishedDigests(message: String, digest: String) {
        let found = SHA256Hash.digest(Array(message.utf8))
        #expect(found.hexadecimal == digest)
        #expect(found.bytes == bytes(digest))
    }

    @Test("SHA-256 in pieces is SHA-256 of the whole, and a copy goes on independently")
    func pieces() {
        let whole = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for cut in [0, 1, 55, 56, 63, 64, 65, 128, 299, 300] {
            var hash = SHA256Hash()
            hash.update(Array(whole[..<cut]))
            var copy = hash
            let before = hash.digest
            copy.update(Array(whole[cut...]))
            #expect(copy.digest == SHA256Hash.digest(whole), "\(cut)")
            #expect(hash.digest == before && before == SHA256Hash.digest(Array(whole[..<cut])), "\(cut)")
        }
    }
}

@Suite("HMAC-SHA-256")
struct KeyedHash256Tests {
    private struct Vector: Sendable {
        let key: [UInt8]
        let message: [UInt8]
        let code: String

        init(_ key: [UInt8], _ message: [UInt8], _ code: String) {
            (self.key, self.message, self.code) = (key, message, code)
        }

        init(_ key: [UInt8], _ message: String, _ code: String) {
            self.init(key, Array(message.utf8), code)
        }
    }

    /// RFC 4231, 4.2 to 4.8, without 4.6, which truncates.
    private static let vectors: [Vector] = [
        Vector(
            [UInt8](repeating: 0x0B, count: 20),
            "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        Vector(
            Array("Jefe".utf8),
            "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        Vector(
            [UInt8](repeating: 0xAA, count: 20),
            [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        Vector(
            [UInt8](1...25),
            [UInt8](repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        Vector(
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        Vector(
            [UInt8](repeating: 0xAA, count: 131),
            """
            This is a test using a larger than block-size key and a larger than block-size data. The key needs to be \
            hashed before being used by the HMAC algorithm.
            """,
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test("HMAC-SHA-256 gives the codes of RFC 4231", arguments: 0..<6)
    func publishedCodes(number: Int) {
        let vector = Self.vectors[number]
        #expect(KeyedHash256(key: vector.key).code(of: vector.message).hexadecimal == vector.code)
    }

    @Test("a random key has 256 bits and is never the same")
    func randomKeys() {
        let keys = (0..<64).map { _ in KeyedHash256.randomKey() }
        #expect(Set(keys).count == keys.count && keys.allSatisfy { $0.count == 32 })
    }
}
