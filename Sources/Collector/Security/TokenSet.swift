// SPDX-License-Identifier: Apache-2.0

internal import Hashing

/// The tokens that are valid, kept as keyed hashes.
///
/// What is shown is hashed under a key of this process and compared with every token, whole, so that the time does not
/// tell how much of a guess was right.
struct TokenSet: Sendable {
    /// The names in order.
    let names: [String]
    private let key = KeyedHash256(key: KeyedHash256.randomKey())
    private let hashes: [[UInt64]]

    /// No tokens.
    static let none = TokenSet([])

    init(_ tokens: [BearerToken]) {
        let sorted = tokens.sorted { $0.name < $1.name }
        names = sorted.map(\.name)
        let key = key
        hashes = sorted.map { key.code(of: $0.bytes).words }
    }

    var isEmpty: Bool { names.isEmpty }

    /// The name of the token that was shown; nil when it is none of them.
    func name(of shown: [UInt8]) -> String? {
        guard shown.count <= BearerToken.lengths.upperBound else { return nil }
        let hash = key.code(of: shown).words
        var found = -1
        for (index, known) in hashes.enumerated() {
            var difference: UInt64 = 0
            for (left, right) in zip(hash, known) { difference |= left ^ right }
            found = difference == 0 ? index : found
        }
        return names.indices.contains(found) ? names[found] : nil
    }
}
