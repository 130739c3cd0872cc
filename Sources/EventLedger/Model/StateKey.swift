// SPDX-License-Identifier: Apache-2.0

/// The key of one page of a projection's state: bytes, ordered as bytes.
///
/// Keys that share a prefix form a family that is loaded and dropped together, such as `cycles/3/…` for the third
/// generation of a table.
public struct StateKey: Sendable, Hashable {
    /// The most bytes that a key may have.
    public static let maximumBytes = 512

    /// The key's bytes.
    public let bytes: [UInt8]

    /// Makes a key of bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a key of the UTF-8 of a text.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The key followed by a number as eight bytes, most significant first, so that numbers sort in order.
    public func appending(_ number: UInt64) -> StateKey {
        var bytes = bytes
        bytes.reserveCapacity(bytes.count + 8)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
        return StateKey(bytes: bytes)
    }

    /// The least key that is greater than every key that starts with this one; nil when there is none.
    var endOfPrefix: StateKey? {
        guard let last = bytes.lastIndex(where: { $0 != .max }) else { return nil }
        var end = Array(bytes[...last])
        end[last] += 1
        return StateKey(bytes: end)
    }
}

extension StateKey: ExpressibleByStringLiteral {
    /// Makes a key of the UTF-8 of a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension StateKey: Comparable {
    /// Orders by bytes, as the database does.
    public static func < (left: StateKey, right: StateKey) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension StateKey: CustomStringConvertible {
    /// The key with every byte outside printable ASCII as `\xNN`.
    public var description: String {
        var text = ""
        for byte in bytes {
            if (0x20..<0x7F).contains(byte), byte != 0x5C {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "\\x"
                if byte < 16 { text += "0" }
                text += String(byte, radix: 16)
            }
        }
        return text
    }
}
