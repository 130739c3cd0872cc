// SPDX-License-Identifier: Apache-2.0

/// The UTC offsets of a time zone over the years, to convert wall-clock times to UTC.
///
/// A time skipped in spring uses the offset before the change. A time repeated in autumn is the first of the two; who knows
/// better asks for the second one, `repetition(ofWall:)`.
public struct ZoneOffsets: Hashable, Sendable {
    /// Transitions are clamped to this range, so that no sum overflows.
    private static let farthest: Int64 = 1 << 42

    /// The wall-clock second from which the offset with the same index applies; ascending.
    private var wallSeconds: [Int64] = []
    private var offsets: [Int32] = []
    private let first: Int32

    /// UTC itself.
    public static let utc = ZoneOffsets(fixed: 0)

    /// A zone with a fixed offset in seconds east of UTC.
    public init(fixed seconds: Int32) {
        first = seconds
    }

    /// A zone with transitions, each effective from a UTC second since 1970.
    ///
    /// - Parameter before: the offset before the first transition, in seconds east of UTC.
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

    /// Converts a wall-clock time to UTC, both in microseconds since 1970.
    public func utcMicroseconds(wall: Int64) -> Int64 {
        wall &- Int64(offset(wallSeconds: wall.flooredDivision(by: 1_000_000))) * 1_000_000
    }

    /// The second time at which a wall clock shows what it shows twice in autumn; nil for any other. Both in microseconds
    /// since 1970.
    public func repetition(ofWall wall: Int64) -> Int64? {
        let second = wall.flooredDivision(by: 1_000_000)
        let next = firstTransition(behind: second)
        guard next < offsets.count else { return nil }
        let back = Int64(offset(before: next)) - Int64(offsets[next])
        guard back > 0, second >= wallSeconds[next] - back else { return nil }
        return wall &- Int64(offsets[next]) * 1_000_000
    }

    /// The offset in effect at a wall-clock second. O(log transitions).
    private func offset(wallSeconds wall: Int64) -> Int32 { offset(before: firstTransition(behind: wall)) }

    /// The offset in effect before a transition.
    private func offset(before transition: Int) -> Int32 { transition == 0 ? first : offsets[transition - 1] }

    /// The index of the first transition later than a wall-clock second.
    private func firstTransition(behind wall: Int64) -> Int {
        var low = 0
        var high = wallSeconds.count
        while low < high {
            let middle = (low + high) / 2
            if wallSeconds[middle] <= wall { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
