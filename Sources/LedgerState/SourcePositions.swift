// SPDX-License-Identifier: Apache-2.0

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
