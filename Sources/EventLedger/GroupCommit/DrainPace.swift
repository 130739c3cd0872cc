// SPDX-License-Identifier: Apache-2.0

/// How fast what waits is committed: the time of a group, of the latest ones with an eighth for each, and of the last one
/// where that was longer, because small groups tell little of large ones.
struct DrainPace {
    private var average: UInt64 = 0
    private var last: UInt64 = 0

    mutating func drained(in nanoseconds: UInt64) {
        last = min(nanoseconds, UInt64.max >> 4)
        average = average == 0 ? last : (average * 7 + last) / 8
    }

    /// The nanoseconds that so many groups should take; 0 while nothing is known.
    func time(forGroups groups: Int) -> UInt64 {
        let (time, overflow) = max(average, last).multipliedReportingOverflow(by: UInt64(max(groups, 0)))
        return overflow ? .max : time
    }
}
