// SPDX-License-Identifier: Apache-2.0

/// HMAC-SHA-256 (RFC 2104) under one key.
///
/// The states after the padded key are computed once, so a short message costs two blocks instead of four.
package struct KeyedHash256: Sendable {
    private static let blockBytes = 64

    private let inner: SHA256Hash
    private let outer: SHA256Hash

    /// - Parameter key: of any length; one beyond a block of 64 bytes is hashed first.
    package init(key: [UInt8]) {
        var block = key.count > Self.blockBytes ? SHA256Hash.digest(key).bytes : key
        block += [UInt8](repeating: 0, count: Self.blockBytes - block.count)
        var (inner, outer) = (SHA256Hash(), SHA256Hash())
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5C })
        (self.inner, self.outer) = (inner, outer)
    }

    /// 256 bits from the system's secure random number generator.
    package static func randomKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// The authentication code of a message.
    package func code(of message: [UInt8]) -> SHA256Digest { code(of: message.span) }

    /// The authentication code of a message.
    package func code(of message: Span<UInt8>) -> SHA256Digest {
        var (first, second) = (inner, outer)
        first.update(message)
        second.update(first.digest)
        return second.digest
    }
}

/// The states stand for the key: they are never part of a log or a dump.
extension KeyedHash256: CustomStringConvertible, CustomReflectable {
    package var description: String { "KeyedHash256" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
