// SPDX-License-Identifier: Apache-2.0

// All three have timespec; which of them is its module for the compiler depends on what else is imported.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// Seconds of the monotonic clock and of this thread's CPU time.
struct Stopwatch {
    private let wall = Self.read(CLOCK_MONOTONIC)
    private let cpu = Self.read(CLOCK_PROCESS_CPUTIME_ID)

    /// Seconds gone by.
    var seconds: Double { Self.read(CLOCK_MONOTONIC) - wall }
    /// Seconds of CPU time that this process has used meanwhile.
    var cpuSeconds: Double { Self.read(CLOCK_PROCESS_CPUTIME_ID) - cpu }

    static func read(_ clock: clockid_t) -> Double {
        var now = timespec()
        unsafe clock_gettime(clock, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    /// Does the work some times after a first time that doesn't count.
    ///
    /// - Returns: What each time took, in seconds.
    static func times(_ count: Int, _ work: () throws -> Void) rethrows -> [Double] {
        try work()
        return try (0..<count).map { _ in
            let watch = Stopwatch()
            try work()
            return watch.seconds
        }
    }

    /// As `times(_:_:)`, in seconds of CPU time, of which other programs take nothing.
    static func cpuTimes(_ count: Int, _ work: () throws -> Void) rethrows -> [Double] {
        try work()
        return try (0..<count).map { _ in
            let watch = Stopwatch()
            try work()
            return watch.cpuSeconds
        }
    }
}
