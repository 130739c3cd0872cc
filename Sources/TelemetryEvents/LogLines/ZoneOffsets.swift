// SPDX-License-Identifier: Apache-2.0

/// The offsets of a time zone through the years: tells what a wall clock's time is in UTC.
///
/// A time that the clocks skip in spring counts with the offset before the change, one that they show twice in autumn
/// is the first of the two.
public struct ZoneOffsets: Hashable, Sendable {
    /// A change that no calendar reaches is cut off here, so that no sum overflows.
    private static let farthest: Int64 = 1 << 42

    /// From which wall-clock second on the offset of the same index holds; ascending.
    private var wallSeconds: [Int64] = []
    private var offsets: [Int32] = []
    private let first: Int32

    /// UTC itself.
    public static let utc = ZoneOffsets(fixed: 0)

    /// A zone that is always so many seconds east of UTC.
    public init(fixed seconds: Int32) {
        first = seconds
    }

    /// A zone with changes of its offset, each from a second of UTC since 1970 on.
    ///
    /// - Parameter before: the offset before the first change, in seconds east of UTC.
    public init(transitions: [(utcSeconds: Int64, offset: Int32)], before: Int32) {
        first = before
        wallSeconds.reserveCapacity(transitions.count)
        offsets.reserveCapacity(transitions.count)
        var last = before
        var lastWall = Int64.min
        for (utcSeconds, offset) in transitions.sorted(by: { $0.utcSeconds < $1.utcSeconds }) {
            let time = min(max(utcSeconds, -Self.farthest), Self.farthest)
            lastWall = max(lastWall, time + Int64(max(last, offset)))
            wallSeconds.append(lastWall)
            offsets.append(offset)
            last = offset
        }
    }

    /// The time in UTC of a wall clock's time, both in microseconds since 1970.
    public func utcMicroseconds(wall: Int64) -> Int64 {
        wall &- Int64(offset(wallSeconds: wall.flooredDivision(by: 1_000_000))) * 1_000_000
    }

    /// How far the wall clock is east of UTC when it shows this second. O(log changes).
    private func offset(wallSeconds wall: Int64) -> Int32 {
        var low = 0
        var high = wallSeconds.count
        while low < high {
            let middle = (low + high) / 2
            if wallSeconds[middle] <= wall { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : offsets[low - 1]
    }
}
