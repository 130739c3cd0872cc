// SPDX-License-Identifier: Apache-2.0

/// What a checkpoint changes in a projection's state, applied in the order in which it was recorded.
///
/// A page of up to about 8,000 bytes fits one database page; that size costs the least to write and to load.
public struct StateChanges: Sendable {
    enum Change: Sendable {
        case put(StateKey, [UInt8])
        case remove(StateKey)
        case removeAll(prefix: StateKey)
    }

    /// The most bytes that the value of one page may have: 16 MiB.
    public static let maximumPageBytes = 16 << 20

    private(set) var changes: [Change] = []

    /// The bytes of all keys and values recorded so far.
    public private(set) var bytes = 0

    /// How many changes were recorded.
    public var count: Int { changes.count }

    /// True when nothing was recorded.
    public var isEmpty: Bool { changes.isEmpty }

    /// Makes an empty set of changes.
    public init() {}

    /// Writes a page, in place of the one that had the key.
    public mutating func put(_ key: StateKey, _ value: [UInt8]) {
        bytes += key.bytes.count + value.count
        changes.append(.put(key, value))
    }

    /// Removes a page; a page that isn't there is no error.
    public mutating func remove(_ key: StateKey) {
        bytes += key.bytes.count
        changes.append(.remove(key))
    }

    /// Removes every page whose key starts with `prefix`; the empty prefix removes the projection's whole state.
    public mutating func removeAll(prefix: StateKey) {
        bytes += prefix.bytes.count
        changes.append(.removeAll(prefix: prefix))
    }

    /// Forgets all changes and keeps the memory.
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
