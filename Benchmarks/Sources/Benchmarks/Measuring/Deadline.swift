// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A limit for waiting until something holds.
struct Deadline {
    private let end: Double

    init(seconds: Double) {
        end = Stopwatch.read(CLOCK_MONOTONIC) + seconds
    }

    /// Looks every so many microseconds whether something holds.
    ///
    /// - Throws: ``BenchmarkFailure`` with the description when it doesn't hold in time.
    func wait(for what: String, every microseconds: UInt32 = 1_000, _ holds: () throws -> Bool) throws {
        while try !holds() {
            guard Stopwatch.read(CLOCK_MONOTONIC) < end else { throw BenchmarkFailure("waited in vain for \(what)") }
            usleep(microseconds)
        }
    }
}
