// SPDX-License-Identifier: Apache-2.0

package import RefreshLifecycle
package import TelemetryEvents

/// The record of a closed run of the background refresh that broke a rule, in the ledger and the journal.
///
/// It holds no id and no text of a client.
package struct RunVerdict: Equatable, Sendable {
    /// The name in entries and in JSON, like the kind of an event.
    package static let event: StaticString = "run_closed"

    /// The time of closing, by the ledger's clock.
    package var closedAt: Timestamp
    /// The time of its start, or of its first event.
    package var begin: Timestamp
    /// The time of its end; nil for an incomplete run.
    package var end: Timestamp?
    /// The hash of the installation that its events' entries have too; nil without one. Runs have no id.
    package var installation: UInt64?
    /// The outcome of the run.
    package var outcome: RunOutcome
    /// Why it was skipped.
    package var skipReason: RefreshSkipReason?
    /// The broken rules, each once.
    package var violations: [RefreshViolation]

    /// The syslog priority of its entry: 4 (warning).
    package var journalPriority: Int { 4 }
}

extension RunVerdict {
    package init(_ run: ClosedRun, closedAt: Timestamp, key: IdentityKey) {
        self.closedAt = closedAt
        begin = run.begin
        end = run.end
        installation = run.installation == 0 ? nil : key.runs(ofInstallation: run.installation)
        outcome = run.outcome
        skipReason = run.skipReason
        violations = run.violations
    }

    /// The verdict as one line of JSON without a line feed and without absent members.
    package var json: [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.name("event")
            text.value("\(Self.event)")
            text.name("timestamp")
            text.value(closedAt)
            text.name("begin")
            text.value(begin)
            if let end {
                text.name("end")
                text.value(end)
            }
            if let installation {
                text.name("cycle")
                text.value(String(decoding: [UInt8](hexadecimal: installation), as: UTF8.self))
            }
            text.name("outcome")
            text.value("\(outcome.name)")
            if let skipReason {
                text.name("reason")
                text.value("\(skipReason.name)")
            }
            text.name("violations")
            text.array { text in
                text.elements(violations)
            }
        }
        return text.bytes
    }
}

extension IdentityKey {
    /// The hash by which the journal's entries of an installation's runs are found.
    ///
    /// - Parameter fingerprint: the fingerprint of the installation.
    package func runs(ofInstallation fingerprint: UInt64) -> UInt64 { hash(0xD, fingerprint) }
}
