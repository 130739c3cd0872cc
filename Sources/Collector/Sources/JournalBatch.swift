// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// The lines of some entries of the journal, with the position behind these.
struct JournalBatch: Equatable, Sendable {
    /// The most entries of one batch.
    static let maximumEntries = 1_024
    /// After how many bytes of lines a batch is full.
    static let fullBytes = 256 << 10
    /// The longest `MESSAGE` that is read, in bytes; what follows is passed over.
    static let longestMessage = 1 << 20
    /// How much earlier than journald took it an entry may say that it was written, in microseconds.
    static let longestDelay: Int64 = 86_400_000_000

    private(set) var lines: [UInt8] = []
    private(set) var carriers: [LineCarrier] = []
    private(set) var entries = 0
    /// Entries that collectors wrote.
    private(set) var skipped = 0
    /// Entries that could not be read, one by one.
    private(set) var unreadable = 0
    var position: JournalPosition
    /// Whether nothing that matches stands behind it.
    var isAtEnd = false

    init(at position: JournalPosition) {
        self.position = position
    }

    var count: Int { entries + skipped + unreadable }
    var isFull: Bool { count >= Self.maximumEntries || lines.count >= Self.fullBytes }

    /// Takes the message of an entry as its lines, each with a line feed.
    mutating func take(_ message: [UInt8], writtenAt: Int64, stream: UInt64) {
        entries += 1
        var cutter = LineCutter(dividesAtGaps: false)
        cutter.cut(message.count > Self.longestMessage ? Array(message[..<Self.longestMessage]) : message, into: &lines)
        cutter.finish(into: &lines)
        carriers.append(
            LineCarrier(end: lines.count, writtenAt: Timestamp(microseconds: writtenAt), stream: stream)
        )
    }

    mutating func skip() { skipped += 1 }

    mutating func passUnreadable() { unreadable += 1 }

    /// When an entry was written: when journald took it, or the time before that which the kernel has told journald.
    static func time(realtime: UInt64, source: UInt64?) -> Int64 {
        let taken = Int64(clamping: realtime)
        guard let source = source.flatMap({ Int64(exactly: $0) }), source <= taken, taken - source <= longestDelay
        else { return taken }
        return source
    }
}
