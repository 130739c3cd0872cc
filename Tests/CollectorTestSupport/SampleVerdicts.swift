// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents
package import TestSupport

@testable package import LedgerState

extension CycleVerdict {
    /// The delivery that came 240 s late, of the example in the documentation.
    package static let drifted = CycleVerdict(
        closedAt: Timestamp(seconds: 1_763_186_820),
        notificationTime: Timestamp(seconds: 1_763_185_980),
        schedule: 0x0123_4567_89AB_CDEF,
        outcome: .used,
        violations: [
            CycleViolation(kind: .driftExceeded, detail: "delivered 240 s after its time; iOS tolerates 180 s")
        ]
    )

    /// Nothing is known but that it was closed and broke nothing, which no tick tells.
    package static let bare = CycleVerdict(
        closedAt: Timestamp(microseconds: 0),
        outcome: .incomplete,
        violations: []
    )

    /// A verdict of chance.
    package static func random(_ random: inout SplitMix64) -> CycleVerdict {
        let rules = ViolationKind.allCases.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        return CycleVerdict(
            closedAt: time(&random),
            notificationTime: Bool.random(using: &random) ? time(&random) : nil,
            schedule: Bool.random(using: &random) ? random.next() : nil,
            outcome: CycleOutcome.allCases[Int.random(in: 0..<CycleOutcome.allCases.count, using: &random)],
            failureReason: Bool.random(using: &random) ? FailureReason.allCases.randomElement(using: &random) : nil,
            violations: rules.map { CycleViolation(kind: $0, detail: sentence(&random)) },
            isTimeWarped: Bool.random(using: &random)
        )
    }

    /// The verdicts of a tick's row.
    package static func read(_ bytes: [UInt8]) throws(VerdictRecordError) -> [CycleVerdict] {
        var cursor = VerdictCursor()
        var verdicts: [CycleVerdict] = []
        while let record = try cursor.next(in: bytes.span) {
            if case .cycle(let verdict) = record { verdicts.append(verdict) }
        }
        return verdicts
    }

    fileprivate static func time(_ random: inout SplitMix64) -> Timestamp {
        Timestamp(microseconds: Int64.random(in: 0..<253_402_300_800_000_000, using: &random))
    }

    fileprivate static func sentence(_ random: inout SplitMix64) -> String {
        let words = ["delivered", "240 s", "\"quoted\"", "ü", "\n", "\u{7F}", "🕛", ""]
        let count = Int.random(in: 0...20, using: &random)
        return (0..<count).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }.joined(separator: " ")
    }
}

extension RunVerdict {
    /// Notified too soon, and again.
    package static let notified = RunVerdict(
        closedAt: Timestamp(seconds: 1_763_186_820),
        begin: Timestamp(seconds: 1_763_185_980),
        end: Timestamp(seconds: 1_763_185_983),
        installation: 0x0123_4567_89AB_CDEF,
        outcome: .completed,
        violations: [
            RefreshViolation(
                kind: .notifiedTooSoon,
                detail: "notified 50 days after the last test; a test is due after 90 days"
            )
        ]
    )

    /// A verdict of chance.
    package static func random(_ random: inout SplitMix64) -> RunVerdict {
        let rules = RefreshViolationKind.allCases.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        return RunVerdict(
            closedAt: CycleVerdict.time(&random),
            begin: CycleVerdict.time(&random),
            end: Bool.random(using: &random) ? CycleVerdict.time(&random) : nil,
            installation: Bool.random(using: &random) ? random.next() : nil,
            outcome: RunOutcome.allCases[Int.random(in: 0..<RunOutcome.allCases.count, using: &random)],
            skipReason: Bool.random(using: &random) ? RefreshSkipReason.allCases.randomElement(using: &random) : nil,
            violations: rules.map { RefreshViolation(kind: $0, detail: CycleVerdict.sentence(&random)) }
        )
    }

    /// The verdicts on runs of a tick's row.
    package static func read(_ bytes: [UInt8]) throws(VerdictRecordError) -> [RunVerdict] {
        var cursor = VerdictCursor()
        var verdicts: [RunVerdict] = []
        while let record = try cursor.next(in: bytes.span) {
            if case .run(let verdict) = record { verdicts.append(verdict) }
        }
        return verdicts
    }
}
