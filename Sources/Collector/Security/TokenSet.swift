// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The tokens that are valid, kept as keyed hashes.
///
/// What is shown is hashed under a key of this process and compared with every token, whole, so that the time does not
/// tell how much of a guess was right.
struct TokenSet: Sendable {
    /// The names in order.
    let names: [String]
    private let key = SymmetricKey(size: .bits256)
    private let hashes: [[UInt64]]

    /// No tokens.
    static let none = TokenSet([])

    init(_ tokens: [BearerToken]) {
        let sorted = tokens.sorted { $0.name < $1.name }
        names = sorted.map(\.name)
        let key = key
        hashes = sorted.map { Self.hash($0.bytes, key) }
    }

    var isEmpty: Bool { names.isEmpty }

    /// The name of the token that was shown; nil when it is none of them.
    func name(of shown: [UInt8]) -> String? {
        guard shown.count <= BearerToken.lengths.upperBound else { return nil }
        let hash = Self.hash(shown, key)
        var found = -1
        for (index, known) in hashes.enumerated() {
            var difference: UInt64 = 0
            for (left, right) in zip(hash, known) { difference |= left ^ right }
            found = difference == 0 ? index : found
        }
        return names.indices.contains(found) ? names[found] : nil
    }

    private static func hash(_ bytes: [UInt8], _ key: SymmetricKey) -> [UInt64] {
        var words: [UInt64] = []
        var word: UInt64 = 0
        for (index, byte) in HMAC<SHA256>.authenticationCode(for: bytes, using: key).enumerated() {
            word = word << 8 | UInt64(byte)
            if index % 8 == 7 { words.append(word) }
        }
        return words
    }
}
