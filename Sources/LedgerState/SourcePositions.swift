// SPDX-License-Identifier: Apache-2.0

package import EventLedger

/// The read position of a source, in an encoding of the source's own.
///
/// It is committed in the same row as the events read up to it.
package struct SourcePosition: Hashable, Sendable {
    /// The hash of the source's name.
    package var source: UInt64
    package var bytes: [UInt8]

    package init(source: UInt64, bytes: [UInt8]) {
        self.source = source
        self.bytes = bytes
    }
}

/// The last position of every source: a fold over the ledger.
package struct SourcePositions: Equatable, Sendable {
    /// The maximum number of sources; above it the least recently read one is evicted.
    package static let maximum = 1_024

    private struct Entry: Equatable, Sendable {
        var position: SourcePosition
        var batch: Int64
    }

    private var entries: [UInt64: Entry] = [:]
    private var changed: Set<UInt64> = []

    package init() {}

    package var sources: [UInt64] { entries.keys.sorted() }

    package func position(of source: UInt64) -> [UInt8]? { entries[source]?.position.bytes }

    /// Records the position of a source as of a batch.
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

    /// The page of a source: the batch and the position.
    package func page(of source: UInt64) -> [UInt8]? {
        entries[source].map { LittleEndianWords.bytes([UInt64(bitPattern: $0.batch)]) + $0.position.bytes }
    }

    private mutating func restore(_ position: SourcePosition, batch: Int64) {
        entries[position.source] = Entry(position: position, batch: batch)
    }

    package static func == (left: SourcePositions, right: SourcePositions) -> Bool { left.entries == right.entries }
}

/// The pages of a checkpoint: one for each source, its batch in eight bytes and then the position.
extension SourcePositions {
    private static let prefix: StateKey = "source/"

    /// The key of a source's page.
    package static func key(of source: UInt64) -> StateKey { prefix.appending(source) }

    /// Adds the changes since the last call.
    package mutating func takeChanges(into changes: inout StateChanges) {
        for source in changed.sorted() {
            let key = Self.key(of: source)
            if let page = page(of: source) { changes.put(key, page) } else { changes.remove(key) }
        }
        changed = []
    }

    /// Restores a page of a checkpoint; false for a page of something else.
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
