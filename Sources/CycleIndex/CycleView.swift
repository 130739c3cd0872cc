// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import LifecycleState
internal import PrefetchLifecycle

/// The index as of one moment, to be searched on any thread.
package struct CycleView: Sendable {
    /// A page of a list.
    package struct Page: Sendable {
        /// The matches, the newest first.
        package var cycles: [IndexedCycle] = []
        /// The number before which the next page begins; nil at the end.
        package var next: UInt64?
        /// How many cycles were looked at.
        package var scanned = 0
    }

    private let segments: [CycleSegment]
    private let open: [UInt8]
    /// The groups that cycles have been in.
    package let groups: [EventGroup]
    /// The number of the newest cycle; 0 without one.
    package let newest: UInt64
    /// How many cycles it has.
    package let count: Int
    /// The most that it may have.
    package let limit: Int

    init(
        segments: [CycleSegment],
        open: [UInt8],
        groups: [EventGroup],
        newest: UInt64,
        count: Int,
        limit: Int
    ) {
        self.segments = segments
        self.open = open
        self.groups = groups
        self.newest = newest
        self.count = count
        self.limit = limit
    }

    /// The page of the oldest segment that is not saved; that of the newest cycles where all are.
    var firstPage: [UInt8] { segments.first?.unsavedPage ?? open }

    /// The number of the oldest cycle.
    package var oldest: UInt64 { newest + 1 - UInt64(count) }

    /// The newest cycles that match.
    ///
    /// Segments without a match are passed over by what their summaries tell; O(cycles) at worst, some 15 ms for 100,000.
    ///
    /// - Parameters:
    ///   - number: only cycles before this one; nil for all.
    ///   - limit: the most matches.
    package func page(
        _ filter: CycleFilter,
        before number: UInt64? = nil,
        limit: Int,
        _ reader: LedgerReader
    ) throws(LedgerError) -> Page {
        let mask = CycleMask(filter, groups: groups)
        let before = number ?? .max
        var page = Page()
        if search(open, mask, before, limit, &page) { return page }
        for segment in segments.reversed() where segment.first < before && mask.mayMatch(segment.summary) {
            // A segment that was deleted meanwhile ends the list, as all before it were.
            guard let bytes = try segment.page(reader) else { return page }
            if search(bytes, mask, before, limit, &page) { return page }
        }
        return page
    }

    /// The cycle with a number; nil where it is not in the index any more.
    package func cycle(_ number: UInt64, _ reader: LedgerReader) throws(LedgerError) -> IndexedCycle? {
        guard number >= oldest, number <= newest, number > 0 else { return nil }
        return try page(CycleFilter(), before: number + 1, limit: 1, reader).cycles.first { $0.number == number }
    }

    /// Adds the matches of a segment; true when the page is full.
    private func search(
        _ bytes: [UInt8],
        _ mask: CycleMask,
        _ before: UInt64,
        _ limit: Int,
        _ page: inout Page
    ) -> Bool {
        guard let first = bytes.littleEndianWord(at: 0) else { return false }
        let offsets = CycleRecord.offsets(of: bytes, from: OpenSegment.headerBytes)
        for (index, offset) in offsets.enumerated().reversed() {
            let number = first + UInt64(index)
            guard number < before else { continue }
            page.scanned += 1
            guard mask.matches(bytes, at: offset) else { continue }
            if page.cycles.count >= limit {
                page.next = page.cycles.last?.number
                return true
            }
            guard let (closed, name, closedAt) = CycleRecord.read(bytes, at: offset) else { continue }
            page.cycles.append(
                IndexedCycle(
                    number: number,
                    closedAt: closedAt,
                    verdict: closed,
                    name: name,
                    group: groups.indices.contains(closed.group) ? groups[closed.group] : .unknown
                )
            )
        }
        return false
    }
}
