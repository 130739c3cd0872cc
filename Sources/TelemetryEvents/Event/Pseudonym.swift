// SPDX-License-Identifier: Apache-2.0

/// What stands for an installation everywhere after the decoder: 128 bits of a keyed hash (SPEC 4.7).
public struct Pseudonym: Hashable, Sendable {
    /// The hash's first eight bytes, big-endian.
    public var high: UInt64
    /// The hash's next eight bytes, big-endian.
    public var low: UInt64

    /// Makes a pseudonym from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Appends the pseudonym as 32 hexadecimal digits.
    public func appendHex(to output: inout [UInt8]) {
        output.appendHex(high)
        output.appendHex(low)
    }
}

extension [UInt8] {
    /// Appends a word as 16 hexadecimal digits.
    mutating func appendHex(_ word: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift) & 0xF)
            append(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
    }
}

/// Replaces installation ids and other identifying text by keyed hashes.
///
/// The service's implementation is HMAC-SHA-256 with the key that it created on first start. The same bytes always
/// give the same pseudonym under one key.
public protocol Pseudonymising: Sendable {
    /// The pseudonym of some bytes.
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym
}
