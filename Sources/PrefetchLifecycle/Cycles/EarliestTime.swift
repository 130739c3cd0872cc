// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The earliest of some times, in whole milliseconds after a cycle's base. Four bytes; a time more than 24 days from the
/// base is not taken.
struct EarliestTime: Hashable, Sendable {
    private(set) var rawValue: Int32 = .max

    init(rawValue: Int32 = .max) {
        self.rawValue = rawValue
    }

    var isKnown: Bool { rawValue != .max }

    mutating func take(_ time: Timestamp, base: Timestamp) {
        let offset = time.microseconds &- base.microseconds
        guard let milliseconds = Int32(exactly: offset / 1_000 - (offset % 1_000 < 0 ? 1 : 0)) else { return }
        rawValue = min(rawValue, milliseconds)
    }

    /// The same, with another time for one that is too far from the base.
    mutating func take(_ time: Timestamp, orElse other: Timestamp, base: Timestamp) {
        take(Fact.canTell(time, from: base) ? time : other, base: base)
    }

    func time(base: Timestamp) -> Timestamp? {
        isKnown ? Timestamp(microseconds: base.microseconds + Int64(rawValue) * 1_000) : nil
    }
}
