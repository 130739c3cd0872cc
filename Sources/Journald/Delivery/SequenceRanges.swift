// SPDX-License-Identifier: Apache-2.0

/// A set of sequence numbers, as ascending ranges that are not adjacent.
///
/// It is bounded: ``insert(_:)`` returns false for what would exceed the limit of ranges.
package struct SequenceRanges: Sendable, Equatable {
    /// The limit, above what a window of 65,536 entries can need.
    static let maximumRanges = 65_536

    private var ranges: [ClosedRange<UInt64>] = []
    private var head = 0

    package init() {}

    /// The ranges, ascending.
    package var elements: ArraySlice<ClosedRange<UInt64>> { ranges[head...] }

    package var isEmpty: Bool { head == ranges.count }
    var rangeCount: Int { ranges.count - head }
    package var first: ClosedRange<UInt64>? { isEmpty ? nil : ranges[head] }
    package var last: UInt64? { isEmpty ? nil : ranges[ranges.count - 1].upperBound }

    /// Whether a number is in the set. O(log n).
    package func contains(_ number: UInt64) -> Bool {
        let index = firstIndex(endingAtOrAbove: number)
        return index < ranges.count && ranges[index].contains(number)
    }

    /// How many numbers of a range are in the set. O(n).
    func count(in limits: ClosedRange<UInt64>) -> UInt64 {
        var total: UInt64 = 0
        for index in firstIndex(endingAtOrAbove: limits.lowerBound)..<ranges.count {
            let range = ranges[index]
            guard range.lowerBound <= limits.upperBound else { break }
            let common = range.clamped(to: limits)
            total += common.upperBound - common.lowerBound + 1
        }
        return total
    }

    /// Inserts a range. O(log n) next to a range or at the end, else O(n).
    ///
    /// - Returns: False when the set is full, so that it was not inserted.
    @discardableResult
    package mutating func insert(_ added: ClosedRange<UInt64>) -> Bool {
        // The first range that overlaps the added one, is adjacent to it or follows it.
        let below = added.lowerBound == 0 ? 0 : added.lowerBound - 1
        let start = firstIndex(endingAtOrAbove: below)
        let above = added.upperBound == .max ? .max : added.upperBound + 1
        var end = start
        var merged = added
        while end < ranges.count, ranges[end].lowerBound <= above {
            merged = min(merged.lowerBound, ranges[end].lowerBound)...max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        if end == start {
            guard rangeCount < Self.maximumRanges else { return false }
            ranges.insert(merged, at: start)
        } else {
            ranges[start] = merged
            if end > start + 1 { ranges.removeSubrange(start + 1..<end) }
        }
        return true
    }

    /// Removes every range that starts at or below a number.
    ///
    /// - Returns: The last number of the last of them, or nil when there is none.
    mutating func removePrefix(reaching number: UInt64) -> UInt64? {
        var upper: UInt64?
        while let range = first, range.lowerBound <= number {
            upper = range.upperBound
            head += 1
        }
        if head == ranges.count {
            ranges.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 1_024, head > ranges.count / 2 {
            ranges.removeSubrange(..<head)
            head = 0
        }
        return upper
    }

    private func firstIndex(endingAtOrAbove number: UInt64) -> Int {
        var low = head
        var high = ranges.count
        if let last, last < number { return high }
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package static func == (left: SequenceRanges, right: SequenceRanges) -> Bool {
        left.ranges[left.head...] == right.ranges[right.head...]
    }
}
