// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The system's clock that is never set.
enum MonotonicClock {
    /// Nanoseconds since some moment in the past.
    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
