// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import COpenSSL
#endif

/// SHA-256 (FIPS 180-4) over bytes that arrive in pieces. A copy goes on independently.
package struct SHA256Hash: Sendable {
    #if canImport(CryptoKit)
        private var state = SHA256()
    #else
        private var state = SHA256_CTX()
    #endif

    /// The hash of no bytes.
    package init() {
        #if !canImport(CryptoKit)
            _ = unsafe SHA256_Init(&state)
        #endif
    }

    /// The digest of all of the bytes.
    package static func digest(_ bytes: [UInt8]) -> SHA256Digest {
        var hash = SHA256Hash()
        hash.update(bytes)
        return hash.digest
    }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

    /// Adds the bytes of a digest, without an array of them.
    package mutating func update(_ digest: SHA256Digest) {
        let words = (digest.first.bigEndian, digest.second.bigEndian, digest.third.bigEndian, digest.fourth.bigEndian)
        unsafe withUnsafeBytes(of: words) { unsafe update(UnsafeRawBufferPointer($0)) }
    }

    /// Adds bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    private mutating func update(_ buffer: UnsafeRawBufferPointer) {
        #if canImport(CryptoKit)
            unsafe state.update(bufferPointer: buffer)
        #else
            _ = unsafe SHA256_Update(&state, buffer.baseAddress, buffer.count)
        #endif
    }

    /// The digest of the bytes so far.
    package var digest: SHA256Digest {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { output in
            #if canImport(CryptoKit)
                unsafe output.copyBytes(from: state.finalize())
            #else
                var last = state
                _ = unsafe SHA256_Final(output.assumingMemoryBound(to: UInt8.self).baseAddress, &last)
            #endif
        }
        return SHA256Digest(
            words: (
                UInt64(bigEndian: words.0), UInt64(bigEndian: words.1), UInt64(bigEndian: words.2),
                UInt64(bigEndian: words.3)
            )
        )
    }
}

/// The 256 bits of a hash as four words, the first of its bytes being the highest of the first word.
package struct SHA256Digest: Hashable, Sendable {
    /// Bits 0 to 63.
    package let first: UInt64
    /// Bits 64 to 127.
    package let second: UInt64
    /// Bits 128 to 191.
    package let third: UInt64
    /// Bits 192 to 255.
    package let fourth: UInt64

    fileprivate init(words: (UInt64, UInt64, UInt64, UInt64)) {
        (first, second, third, fourth) = words
    }

    /// All four words in order.
    package var words: [UInt64] { [first, second, third, fourth] }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// The 64 hexadecimal digits, in lower case.
    package var hexadecimal: String {
        words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }
}
