// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The ids of some of the open cycles' schedules: cycles know the hash alone, and an observation that is made when a cycle
/// closes is to name its schedule.
///
/// A schedule that is sampled stays so until a cycle of it closes, and only then another one takes its place. So of many
/// cycles that are open for long a few are named, rather than only those that close soon.
struct SampledSchedules: Sendable {
    /// A power of two. With ids of 128 bytes they take some 200 KB.
    private static let count = 1_024

    private var hashes = [UInt64](repeating: 0, count: count)
    private var ids = [[UInt8]](repeating: [], count: count)

    /// Samples a schedule, unless another is at its place.
    @inline(__always)
    mutating func sample(_ hash: UInt64, _ id: Event.Text, in bytes: Span<UInt8>) {
        let place = Self.place(of: hash)
        if hashes[place] == 0, hash != 0, !id.isEmpty { keep(hash, id, in: bytes, at: place) }
    }

    private mutating func keep(_ hash: UInt64, _ id: Event.Text, in bytes: Span<UInt8>, at place: Int) {
        hashes[place] = hash
        ids[place] = id.map { bytes[$0] }
    }

    /// The id of a schedule, which is sampled no more; nil where it was not.
    mutating func take(_ hash: UInt64) -> [UInt8]? {
        let place = Self.place(of: hash)
        guard hash != 0, hashes[place] == hash else { return nil }
        hashes[place] = 0
        defer { ids[place] = [] }
        return ids[place]
    }

    private static func place(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (count - 1) }
}
