// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event says about which cycle it belongs to (SPEC 2).
struct CycleAddress {
    /// The hash of installation and schedule id; 0 where the event has no id.
    let schedule: UInt64
    /// The fingerprint of the installation; 0 where the event has none.
    let installation: UInt64
    /// When the notification is due, in whole milliseconds; two times within one are the same.
    let due: Timestamp?

    /// Nil for an event that names neither schedule nor notification time.
    init?(_ event: borrowing Event, schedule: UInt64?, installation: UInt64) {
        let due = event.due
        guard schedule != nil || due != nil else { return nil }
        self.schedule = schedule ?? 0
        self.installation = installation
        self.due = due
    }

    var hasBoth: Bool { schedule != 0 && due != nil }
}

extension Event {
    /// When the notification is due, as cycles know it: in whole milliseconds.
    var due: Timestamp? {
        scheduledFor.map { time in
            let milliseconds = min(max(time.microseconds / 1_000, 0), Int64(UInt32.max) * 1_000)
            return Timestamp(microseconds: milliseconds * 1_000)
        }
    }
}

extension Pseudonym {
    /// Half of the pseudonym, which is a keyed hash already; never 0.
    var fingerprint: UInt64 { Swift.max((high ^ low >> 1) &* 0x9E37_79B9_7F4A_7C15, 1) }
}
