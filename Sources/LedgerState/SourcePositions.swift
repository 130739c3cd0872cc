// SPDX-License-Identifier: Apache-2.0

package import EventLedger

/// How far a source has been read, in bytes of its own; it stands in the row of what was read up to there, so that both
/// are committed or neither.
package struct SourcePosition: Hashable, Sendable {
    /// Which source: a hash of its name.
    package var source: UInt64
    package var bytes: [UInt8]

    package init(source: UInt64, bytes: [UInt8]) {
        self.source = source
        self.bytes = bytes
    }
}

/// The last position of every source: a fold over the ledger.
package struct SourcePositions: Equatable, Sendable {
    /// The most sources that are remembered; the one that was silent for longest is forgotten for a new one.
    package static let maximum = 1_024

    private struct Entry: Equatable, Sendable {
        var position: SourcePosition
        var batch: Int64
    }

    private var entries: [UInt64: Entry] = [:]
    package var changed: Set<UInt64> = []

    package init() {}

    package var sources: [UInt64] { entries.keys.sorted() }

    package func position(of source: UInt64) -> [UInt8]? { entries[source]?.position.bytes }

    /// Notes where a source was when a batch was committed.
    package mutating func note(_ position: SourcePosition, batch: Int64) {
        if entries[position.source] == nil, entries.count >= Self.maximum,
            let oldest = entries.min(by: { ($0.value.batch, $0.key) < ($1.value.batch, $1.key) })?.key
        {
            entries[oldest] = nil
            changed.insert(oldest)
        }
        entries[position.source] = Entry(position: position, batch: batch)
        changed.insert(position.source)
    }

    /// A source's page: the batch and the position.
    package func page(of source: UInt64) -> [UInt8]? {
        entries[source].map { LittleEndianWords.bytes([UInt64(bitPattern: $0.batch)]) + $0.position.bytes }
    }

    package mutating func restore(_ position: SourcePosition, batch: Int64) {
        entries[position.source] = Entry(position: position, batch: batch)
    }

    package static func == (left: SourcePositions, right: SourcePositions) -> Bool { left.entries == right.entries }
}

/// The positions as pages of a checkpoint: one a source, its batch in eight bytes and the position behind it.
extension SourcePositions {
    private static let prefix: StateKey = "source/"

    /// The name of a source's page.
    package static func key(of source: UInt64) -> StateKey { prefix.appending(source) }

    /// Records what has changed since the last call.
    package mutating func takeChanges(into changes: inout StateChanges) {
        for source in changed.sorted() {
            let key = Self.key(of: source)
            if let page = page(of: source) { changes.put(key, page) } else { changes.remove(key) }
        }
        changed = []
    }

    /// Takes a page of a checkpoint back; false for a page that is none of these.
    package mutating func restore(_ key: StateKey, _ value: [UInt8]) -> Bool {
        let start = Self.prefix.bytes.count
        guard
            key.bytes.count == start + 8, key.bytes.starts(with: Self.prefix.bytes),
            let batch = LittleEndianWords.words(Array(value.prefix(8)))?.first
        else { return false }
        let source = key.bytes[start...].reduce(0) { $0 << 8 | UInt64($1) }
        restore(SourcePosition(source: source, bytes: Array(value.dropFirst(8))), batch: Int64(bitPattern: batch))
        return true
    }
}
