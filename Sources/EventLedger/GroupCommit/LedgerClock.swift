// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The times that the writer stamps and measures with.
public struct LedgerClock: Sendable {
    /// Microseconds since 1970 UTC.
    public var now: @Sendable () -> Int64
    /// Nanoseconds that only ever go on, from any beginning.
    public var monotonic: @Sendable () -> UInt64

    /// Makes a clock of two readings.
    public init(now: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> UInt64) {
        self.now = now
        self.monotonic = monotonic
    }

    /// The machine's clocks, CLOCK_REALTIME and CLOCK_MONOTONIC.
    public static let system = LedgerClock(
        now: {
            let time = read(CLOCK_REALTIME)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        },
        monotonic: {
            let time = read(CLOCK_MONOTONIC)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    )

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}
