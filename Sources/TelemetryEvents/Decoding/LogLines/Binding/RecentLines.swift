// SPDX-License-Identifier: Apache-2.0

/// The lines that came last, by which one that is told again is known: of a file that is read twice, or of two parts of a log
/// that overlap.
///
/// A line is known by its stamp, process and message when it names its cycle; else only behind the same line as the first
/// time, since "Task completed" of two cycles in one second are two lines. Two generations of 32,768 lines are remembered.
struct RecentLines: Sendable {
    private static let generation = 32_768

    private var young: Set<UInt64> = []
    private var old: Set<UInt64> = []
    private var previous: UInt64 = 0

    /// Whether a line was there before; it is from now on.
    mutating func contains(_ fingerprint: UInt64, namesItsCycle: Bool) -> Bool {
        let behind = previous
        previous = fingerprint
        let known = namesItsCycle ? fingerprint : fingerprint ^ (behind &* 0x9E37_79B9_7F4A_7C15 | 1)
        if young.contains(known) || old.contains(known) { return true }
        if young.count >= Self.generation {
            swap(&young, &old)
            young.removeAll(keepingCapacity: true)
        }
        young.insert(known)
        return false
    }
}
