// SPDX-License-Identifier: Apache-2.0

internal import LedgerState

/// How far the journal has been read: behind an entry, or up to a time where there was none.
struct JournalPosition: Hashable, SourcePlace {
    private static let version: UInt64 = 1
    /// The longest cursor that is kept, in bytes; libsystemd's have about 200.
    static let maximumCursor = 1_024

    /// The cursor of the last entry, of whatever kind; nil while there was none.
    var cursor: String?
    /// When journald took that entry, or when reading began; in microseconds since 1970.
    var realtime: Int64

    /// What the position is kept under; the same for all conditions, so that another one goes on where reading is.
    static let sourceName = "followed journal"

    func encoded(with state: [UInt8]) -> [UInt8] {
        let cursor = Array((cursor ?? "").utf8.prefix(Self.maximumCursor))
        let words = [Self.version, UInt64(bitPattern: realtime), UInt64(cursor.count), UInt64(state.count)]
        return LittleEndianWords.bytes(words) + cursor + state
    }

    /// Reads a position back; nil for bytes that are none.
    static func decode(_ bytes: [UInt8]) -> (position: JournalPosition, state: [UInt8])? {
        guard
            let words = LittleEndianWords.words(Array(bytes.prefix(32))), words.count == 4, words[0] == version,
            words[2] <= UInt64(maximumCursor), words[3] <= UInt64(bytes.count),
            32 + Int(words[2]) + Int(words[3]) == bytes.count
        else { return nil }
        let stateStart = 32 + Int(words[2])
        let cursor = String(decoding: bytes[32..<stateStart], as: UTF8.self)
        let position = JournalPosition(
            cursor: cursor.isEmpty ? nil : cursor,
            realtime: Int64(bitPattern: words[1])
        )
        return (position, Array(bytes[stateStart...]))
    }
}
