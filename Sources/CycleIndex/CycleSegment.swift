// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Synchronization

/// Closed cycles with consecutive numbers: a page of the saved index once it is full, and what a search needs to know to
/// pass over it.
final class CycleSegment: Sendable {
    /// How many cycles a full segment has.
    static let capacity = 256
    static let prefix = "cycles/"

    /// The number of its first cycle.
    let first: UInt64
    let count: Int
    let summary: CycleSummary
    /// The records, until they are saved.
    private let unsaved: Mutex<[UInt8]?>

    init(_ open: OpenSegment) {
        first = open.first
        count = open.count
        summary = open.summary
        unsaved = Mutex(open.bytes)
    }

    /// A segment of the saved index; nil where the page is damaged.
    init?(saved page: [UInt8]) {
        guard let open = OpenSegment(page), open.isFull else { return nil }
        first = open.first
        count = open.count
        summary = open.summary
        unsaved = Mutex(nil)
    }

    var key: StateKey { StateKey(Self.prefix).appending(first) }

    /// The page to save; nil where it is saved.
    var unsavedPage: [UInt8]? { unsaved.withLock { $0 } }

    /// Lets go of the records, which are saved now.
    func saved() { unsaved.withLock { $0 = nil } }

    /// The page, from memory or from the saved index; nil where it was deleted meanwhile.
    func page(_ reader: LedgerReader) throws(LedgerError) -> [UInt8]? {
        if let page = unsavedPage { return page }
        var page: [UInt8]?
        try reader.loadState(CycleIndex.name, keyPrefix: key) { _, value in page = value }
        return page
    }
}

/// The newest cycles, to which closed ones are added: the page of a segment that is not full.
///
/// A page has the number of the first cycle (8 bytes), how many cycles follow (2), and their records.
struct OpenSegment: Sendable {
    static let headerBytes = 10

    let first: UInt64
    private(set) var count = 0
    private(set) var summary = CycleSummary()
    private(set) var bytes: [UInt8] = []

    init(first: UInt64) {
        self.first = first
        bytes.append(littleEndian: first)
        bytes += [0, 0]
    }

    /// Reads a page; nil where it is damaged.
    init?(_ page: [UInt8]) {
        guard let first = page.littleEndianWord(at: 0), page.count >= Self.headerBytes else { return nil }
        self.first = first
        let offsets = CycleRecord.offsets(of: page, from: Self.headerBytes)
        guard offsets.count == Int(page[8]) | Int(page[9]) << 8 else { return nil }
        for offset in offsets { summary.include(page, at: offset) }
        count = offsets.count
        bytes = page
    }

    var isFull: Bool { count >= CycleSegment.capacity }

    /// Adds the record that a closure appends.
    mutating func add(_ append: (inout [UInt8]) -> Void) {
        let start = bytes.count
        append(&bytes)
        summary.include(bytes, at: start)
        count += 1
        bytes[8] = UInt8(truncatingIfNeeded: count)
        bytes[9] = UInt8(truncatingIfNeeded: count >> 8)
    }
}
