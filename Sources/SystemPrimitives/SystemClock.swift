// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The machine's clocks, in the units that the ledger and the journal use.
package enum SystemClock {
    /// Microseconds since 1970 UTC (CLOCK_REALTIME); it jumps when the time is set.
    package static func realtimeMicroseconds() -> Int64 {
        let time = read(CLOCK_REALTIME)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1_000
    }

    /// Nanoseconds since an arbitrary moment in the past (CLOCK_MONOTONIC); never set back.
    package static func monotonicNanoseconds() -> UInt64 {
        let time = read(CLOCK_MONOTONIC)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to 0 below and to `Int64.max`, some 292 years, above.
    package var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return UInt64(Int64.max) }
        return min(UInt64(whole) + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
    }
}
