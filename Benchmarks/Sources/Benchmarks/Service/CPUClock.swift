// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The CPU time of another process (clock_getcpuclockid(3)).
struct CPUClock {
    private let clock: clockid_t

    init(process: pid_t) throws {
        var clock = clockid_t()
        guard unsafe clock_getcpuclockid(process, &clock) == 0 else {
            throw BenchmarkFailure("process \(process) has no CPU clock")
        }
        self.clock = clock
    }

    /// Seconds of all its threads.
    var seconds: Double { Stopwatch.read(clock) }
}
