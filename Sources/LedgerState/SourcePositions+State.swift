// SPDX-License-Identifier: Apache-2.0

package import EventLedger

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
