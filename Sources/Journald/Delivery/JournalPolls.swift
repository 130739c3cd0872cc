// SPDX-License-Identifier: Apache-2.0

/// When the journal is polled while an entry is expected: journald announces entries up to 250 ms late, but they are
/// readable at once. Times are monotonic, in nanoseconds.
struct JournalPolls {
    private static let firstPause: UInt64 = 1_000_000
    static let longestPause: UInt64 = 50_000_000
    /// How many polls for markers pass before the journal is reopened: libsystemd notices new files, but not the new
    /// directory of a namespace.
    private static let perReopening = 10

    /// The time of the next poll for markers.
    private(set) var nextTime: UInt64 = 0
    private var pause = JournalPolls.firstPause
    private var count = 0

    /// Begins a poll for markers; returns whether the journal is to be reopened for it.
    mutating func begin() -> Bool {
        count += 1
        return count.isMultiple(of: Self.perReopening)
    }

    /// The markers were not found.
    mutating func missed(now: UInt64) { nextTime = now + takePause() }

    /// What was expected was found.
    mutating func found() { pause = Self.firstPause }

    /// The pause before the next poll; the one after it is longer.
    mutating func takePause() -> UInt64 {
        defer { pause = min(pause * 2, Self.longestPause) }
        return pause
    }
}
