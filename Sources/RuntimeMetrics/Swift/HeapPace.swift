// SPDX-License-Identifier: Apache-2.0

/// Keeps what may take long to a thousandth of the time, and ends it once it took so long that others felt it.
struct HeapPace {
    /// CPU time of one reading past which there is no other.
    static let longest = Duration.milliseconds(2)

    private var next: ContinuousClock.Instant?
    private var isOver = false

    /// What `read` tells; nil when it is too early for it.
    mutating func reading(_ read: () -> HeapTotals?) -> HeapTotals? {
        let start = ContinuousClock.now
        guard allows(start) else { return nil }
        let processor = ThreadTime.now
        let totals = read()
        let end = ContinuousClock.now
        took(end - start, processor: ThreadTime.now - processor, endedAt: end)
        return totals
    }

    func allows(_ now: ContinuousClock.Instant) -> Bool {
        !isOver && next.map { now >= $0 } ?? true
    }

    /// - Parameters:
    ///   - duration: Time on the clock, which includes that for which the thread did not run.
    ///   - processor: CPU time.
    mutating func took(_ duration: Duration, processor: Duration, endedAt end: ContinuousClock.Instant) {
        isOver = isOver || processor > Self.longest
        next = end + duration * 1_000
    }
}
