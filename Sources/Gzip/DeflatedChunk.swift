// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A piece of a page with its deflated form, which stands for itself and can be joined with others.
package final class DeflatedChunk: Sendable {
    /// Of which bytes of the page it was made.
    package let source: [UInt8]
    /// Deflate (RFC 1951) blocks that end at a whole byte, refer to nothing before them, and are not the last ones.
    package let deflated: [UInt8]
    /// Of the source.
    package let checksum: UInt

    package init(source: [UInt8], deflated: [UInt8], checksum: UInt) {
        self.source = source
        self.deflated = deflated
        self.checksum = checksum
    }

    /// The memory that it takes, in bytes.
    package var bytes: Int { source.count + deflated.count }

    /// Whether the piece has just these bytes.
    package func isOf(_ piece: Span<UInt8>) -> Bool {
        guard piece.count == source.count else { return false }
        return unsafe piece.withUnsafeBytes { piece in
            unsafe source.withUnsafeBytes { source in
                guard let left = piece.baseAddress, let right = source.baseAddress else { return true }
                return unsafe memcmp(left, right, piece.count) == 0
            }
        }
    }
}
