// SPDX-License-Identifier: Apache-2.0

/// A hash of label values by their bytes, seeded against values chosen to collide.
///
/// Sixteen bytes at a time are folded by a 64 by 64 bit multiplication whose halves are mixed, which is several
/// times faster on short strings than the standard library's hasher.
struct LabelHash {
    private(set) var value: UInt64

    init(seed: UInt64) {
        value = seed
    }

    @inline(__always)
    mutating func combine(_ text: String) {
        let state = value
        let contiguous = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            unsafe Self.fold(UnsafeRawBufferPointer(bytes), into: state)
        }
        if let contiguous {
            value = contiguous
        } else {
            var copy = text
            value = copy.withUTF8 { unsafe Self.fold(UnsafeRawBufferPointer($0), into: state) }
        }
    }

    @inline(__always)
    private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    /// Odd constants with balanced bits: the fractional parts of the golden ratio and of the square root of two.
    private static let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let silver: UInt64 = 0x6A09_E667_F3BC_C909

    @inline(__always)
    private static func fold(_ bytes: UnsafeRawBufferPointer, into state: UInt64) -> UInt64 {
        let count = bytes.count
        var folded = state ^ (UInt64(truncatingIfNeeded: count) &* silver)
        var first: UInt64 = 0
        var last: UInt64 = 0
        if count >= 8 {
            var offset = 0
            while count - offset > 16 {
                let left = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let right = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
                folded = mix(left ^ folded, right ^ golden)
                offset += 16
            }
            first = unsafe bytes.loadUnaligned(fromByteOffset: min(offset, count - 8), as: UInt64.self)
            last = unsafe bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            first = UInt64(unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
            last = UInt64(unsafe bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        } else if count > 0 {
            first = UInt64(unsafe bytes[0]) << 16 | UInt64(unsafe bytes[count / 2]) << 8
            last = UInt64(unsafe bytes[count - 1])
        }
        return mix(first ^ folded, last ^ golden ^ (folded >> 32 | folded << 32))
    }
}
