// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A 128-bit id, which systemd writes as 32 lowercase hexadecimal digits (sd-id128(3)).
struct ID128: CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// An id from 128 bits of a generator.
    static func random(using random: inout some RandomNumberGenerator) -> ID128 {
        ID128(high: random.next(), low: random.next())
    }

    /// The id of this machine (machine-id(5)); nil when it has none.
    static func machine() -> ID128? {
        var id = sd_id128_t()
        guard unsafe sd_id128_get_machine(&id) >= 0 else { return nil }
        return unsafe withUnsafeBytes(of: id) { bytes in
            unsafe ID128(
                high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    var description: String { Self.digits(high) + Self.digits(low) }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
