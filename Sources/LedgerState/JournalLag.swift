// SPDX-License-Identifier: Apache-2.0

/// When the events that are not confirmed yet were committed, at one second's resolution and in bounded memory.
struct JournalLag: Sendable {
    private static let resolution: Int64 = 1_000_000
    private static let samples = 4_096

    private var commits: [(sequence: UInt64, at: Int64)] = []

    mutating func committed(_ sequence: UInt64, at time: Int64) {
        if let last = commits.last, time - last.at < Self.resolution || commits.count >= Self.samples {
            commits[commits.count - 1].sequence = max(last.sequence, sequence)
        } else {
            commits.append((sequence, time))
        }
    }

    /// The age of the oldest commit that holds an event behind `confirmed`, in microseconds.
    mutating func age(behind confirmed: UInt64, now: Int64) -> Int64 {
        commits.removeFirst(commits.prefix { $0.sequence <= confirmed }.count)
        return commits.first.map { max(now - $0.at, 0) } ?? 0
    }
}
