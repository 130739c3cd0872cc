// SPDX-License-Identifier: Apache-2.0

package import PrefetchLifecycle
package import TelemetryEvents

/// The record of a closed cycle that broke a rule, in the ledger and the journal.
///
/// It holds no id and no text of a client.
package struct CycleVerdict: Equatable, Sendable {
    /// The name in entries and in JSON, like the kind of an event.
    package static let event: StaticString = "cycle_closed"

    /// The time of closing, by the ledger's clock.
    package var closedAt: Timestamp
    /// The notification time, where it is known.
    package var notificationTime: Timestamp?
    /// The hash of installation and schedule id, which finds the cycle's events; nil without an id.
    package var schedule: UInt64?
    /// The outcome of the cycle.
    package var outcome: CycleOutcome
    /// The reason of the first failed attempt; nil without a failure.
    package var failureReason: FailureReason?
    /// The broken rules, each once.
    package var violations: [CycleViolation]
    /// Whether a test of the app warped the clock during the cycle.
    package var isTimeWarped = false

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
        isTimeWarped = cycle.isTimeWarped
    }

    /// The verdict as one line of JSON without a line feed and without absent members.
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
            if isTimeWarped {
                text.name("timeWarped")
                text.value(true)
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
        self = []
        appendHex(word)
    }
}
