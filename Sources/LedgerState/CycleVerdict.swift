// SPDX-License-Identifier: Apache-2.0

package import PrefetchLifecycle
package import TelemetryEvents

/// What the ledger and the journal say of a cycle that broke a rule, once it is closed and judged. It holds no id and no
/// text of a client.
package struct CycleVerdict: Equatable, Sendable {
    /// How an entry and a line of JSON name it, as an event is named by its kind.
    package static let event: StaticString = "cycle_closed"

    /// When it was closed, by the ledger's clock.
    package var closedAt: Timestamp
    /// When the notification was due, where that is known.
    package var notificationTime: Timestamp?
    /// The hash of installation and schedule id, by which the cycle's events are found; nil where no id was told.
    package var schedule: UInt64?
    /// How it ended.
    package var outcome: CycleOutcome
    /// Why its last failed attempt failed; nil without a failure.
    package var failureReason: FailureReason?
    /// The rules that it broke, each once.
    package var violations: [CycleViolation]

    /// The syslog priority of its entry: 3 (error) when what was used is not what was stored, else 4 (warning).
    package var journalPriority: Int {
        let isMismatch = violations.contains { [.contentHashMismatch, .scheduleHashMismatch].contains($0.kind) }
        return isMismatch ? 3 : 4
    }
}

extension CycleVerdict {
    package init(_ cycle: ClosedCycle, closedAt: Timestamp) {
        self.closedAt = closedAt
        notificationTime = cycle.notificationTime
        schedule = cycle.schedule
        outcome = cycle.outcome
        failureReason = cycle.failureReason
        violations = cycle.violations
    }

    /// The verdict as one line of JSON without a line end, absent members left out.
    package var json: [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("event")
            text.value("\(Self.event)")
            text.name("timestamp")
            text.value(closedAt)
            if let notificationTime {
                text.name("scheduledFor")
                text.value(notificationTime)
            }
            if let schedule {
                text.name("cycle")
                text.value(String(decoding: [UInt8](hexadecimal: schedule), as: UTF8.self))
            }
            text.name("outcome")
            text.value("\(outcome.name)")
            if let failureReason {
                text.name("reason")
                text.value("\(failureReason.name)")
            }
            text.name("violations")
            text.array { text in
                text.elements(violations)
            }
        }
        return text.bytes
    }
}

extension [UInt8] {
    /// The 16 hexadecimal digits of a word.
    package init(hexadecimal word: UInt64) {
        self = stride(from: 60, through: 0, by: -4).map { shift in
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift) & 0xF)
            return digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }
}
