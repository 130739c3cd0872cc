// SPDX-License-Identifier: Apache-2.0

/// The changes of a checkpoint to a projection's state, applied in the order in which they were recorded.
///
/// A page of up to about 8,000 bytes fits into one database page; that size is the cheapest to write and to load.
public struct StateChanges: Sendable {
    enum Change: Sendable {
        case put(StateKey, [UInt8])
        case remove(StateKey)
        case removeAll(prefix: StateKey)
    }

    /// The maximum size of a page's value: 16 MiB.
    public static let maximumPageBytes = 16 << 20

    private(set) var changes: [Change] = []

    /// The size of all recorded keys and values, in bytes.
    public private(set) var bytes = 0

    /// How many changes were recorded.
    public var count: Int { changes.count }

    /// True when nothing was recorded.
    public var isEmpty: Bool { changes.isEmpty }

    /// Makes an empty set of changes.
    public init() {}

    /// Writes a page, replacing one with the same key.
    public mutating func put(_ key: StateKey, _ value: [UInt8]) {
        bytes += key.bytes.count + value.count
        changes.append(.put(key, value))
    }

    /// Removes a page, if there is one.
    public mutating func remove(_ key: StateKey) {
        bytes += key.bytes.count
        changes.append(.remove(key))
    }

    /// Removes every page whose key starts with `prefix`; the empty prefix removes the projection's whole state.
    public mutating func removeAll(prefix: StateKey) {
        bytes += prefix.bytes.count
        changes.append(.removeAll(prefix: prefix))
    }

    /// Removes all changes and keeps the memory.
    public mutating func clear() {
        changes.removeAll(keepingCapacity: true)
        bytes = 0
    }

    func validate() throws(LedgerError) {
        for change in changes {
            guard case .put(let key, let value) = change else { continue }
            guard key.bytes.count <= StateKey.maximumBytes, value.count <= Self.maximumPageBytes else {
                throw LedgerError.refused(
                    detail: "a page may have a key of \(StateKey.maximumBytes) bytes and a value of "
                        + "\(Self.maximumPageBytes), this one has \(key.bytes.count) and \(value.count)"
                )
            }
        }
    }
}

/// The key of one page of a projection's state: bytes, ordered as bytes.
///
/// Keys that share a prefix form a family that can be loaded and removed together, such as `cycles/3/…` for the third
/// generation of a table.
public struct StateKey: Sendable, Hashable {
    /// The maximum length of a key, in bytes.
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

    /// The key followed by a number as eight bytes, big-endian, so that keys sort by number.
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

extension StateKey {
    /// The checksum stored with a page: over the value, seeded with the hash of the key.
    func checksum(of value: [UInt8]) -> Int64 {
        Int64(bitPattern: XXH64.hash(value, seed: XXH64.hash(bytes, seed: 0)))
    }
}
