// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("A story comes out the same whatever it is wrapped in")
struct WrappedScenariosTests {
    @Test("every scenario in every wrapper", arguments: Scenario.all, Wrapping.all)
    func wrapped(scenario: Scenario, wrapping: Wrapping) {
        let log = WrittenLog.plain.bytes(of: scenario.lines.map(wrapping.wrap))
        #expect(Story(of: log) == Story(expected: scenario, hasTime: wrapping.hasTime))
    }

    @Test(
        "the happy path in every wrapper, whatever happened to the file",
        arguments: Wrapping.all,
        WrittenLog.allCases
    )
    func written(wrapping: Wrapping, written: WrittenLog) throws {
        guard wrapping.isOneLine || written != .amongOthers else { return }
        let scenario = try #require(Scenario.all.first)
        let log = written.bytes(of: scenario.lines.map(wrapping.wrap))
        #expect(Story(of: log) == Story(expected: scenario, hasTime: wrapping.hasTime))
    }
}

/// What a log told.
private struct Story: Equatable {
    var outcomes: [CycleOutcome]
    var violations: Set<ViolationKind>
    var counts: [UInt64]

    init(expected scenario: Scenario, hasTime: Bool) {
        outcomes = scenario.outcomes
        violations = Set(scenario.violations + (hasTime ? scenario.timedViolations : []))
        let failures = FailureReason.allCases.map { reason in scenario.failures.count { $0 == reason } }
        counts = ([scenario.scheduled, scenario.executed, scenario.success, scenario.used] + failures).map {
            UInt64($0)
        }
    }

    init(of log: [UInt8]) {
        let key = IdentityKey(1, 2)
        let readAt = Timestamp(seconds: PluginLine.start.microseconds / 1_000_000 + 30 * 86_400)
        var decoder = LogDecoder(LogDecoderOptions(), pseudonyms: OneRunPseudonyms(), identityKey: key)
        var fold = LifecycleFold(key: key, keepsClosedCycles: true, deduplicates: false)
        let first = decoder.decode(log.span, readAt: readAt)
        let last = decoder.flush(readAt: readAt)
        for decoded in [first, last] { try? fold.apply(decoded.events.bytes.span, receivedAt: readAt) }
        fold.finish()
        let cycles = fold.takeClosedCycles()
        outcomes = cycles.map(\.outcome)
        violations = Set(cycles.flatMap { $0.violations.map(\.kind) })
        let totals = fold.totals
        counts =
            [totals.scheduled, totals.executed, totals.success, totals.used]
            + FailureReason.allCases.map { totals.failure($0) }
    }
}
