// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

/// Every rule, violated and just not violated.
@Suite("Violations")
struct ViolationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let kind: ViolationKind
        let name: String
        let broken: [TestEvent]
        let kept: [TestEvent]
        /// A part of the violation's detail.
        let words: String

        init(_ kind: ViolationKind, _ name: String, _ words: String, broken: [TestEvent], kept: [TestEvent]) {
            self.kind = kind
            self.name = name
            self.words = words
            self.broken = broken
            self.kept = kept
        }

        var testDescription: String { "\(kind.name): \(name)" }
    }

    /// A cycle without a fault: scheduled, executed in its window, successful, used and delivered in time.
    static func cycle(
        scheduled: Double = 0,
        begins: Double = 300,
        executed: Double = 400,
        success: Double = 402,
        used: Double = 900,
        delivered: Double = 901,
        due: Double = 900
    ) -> [TestEvent] {
        let lead = (due - begins).truncatingRemainder(dividingBy: 60) == 0 ? Int64(due - begins) / 60 : nil
        return [
            TestEvent(.prefetchScheduled, scheduled, due: due).begins(begins).leading(lead),
            TestEvent(.prefetchExecuted, executed), TestEvent(.prefetchSuccess, success),
            TestEvent(.prefetchCompleted, success),
            TestEvent(.prefetchUsedForNotification, used), TestEvent(.notificationDelivered, delivered),
        ]
    }

    /// The same, fetched at 401, of which no delivery is told.
    static func undelivered(used: Double) -> [TestEvent] {
        cycle(success: 401, used: used).filter { $0.event.kind != .notificationDelivered }
    }

    static func without(_ kinds: EventKind...) -> [TestEvent] { cycle().filter { !kinds.contains($0.event.kind) } }

    @Test(
        "each violation is found, with its detail",
        arguments: order + integrity + timing + StageRows.rows + AcrossCycles.rows + LaunchRows.rows
    )
    func violationIsFoundWithItsDetail(row: Row) throws {
        let cycles = try LifecycleFold.judged(row.broken)
        let violations = cycles.flatMap(\.violations).filter { $0.kind == row.kind }
        #expect(violations.count == 1)
        #expect(violations.first?.detail.contains(row.words) ?? false, "\(violations)")
    }

    @Test(
        "the limit of each rule is no violation",
        arguments: order + integrity + timing + StageRows.rows + AcrossCycles.rows + LaunchRows.rows
    )
    func limitOfARuleIsNoViolation(row: Row) throws {
        let cycles = try LifecycleFold.judged(row.kept)
        #expect(!cycles.isEmpty)
        #expect(!cycles.flatMap(\.broken).contains(row.kind))
    }

    @Test(
        "violations are the same in any order of arrival",
        arguments: order + integrity + timing + StageRows.rows + AcrossCycles.rows + LaunchRows.rows
    )
    func violationsAreTheSameInAnyOrder(row: Row) throws {
        var random = SplitMix64(seed: 5)
        for events in [row.broken, row.kept] {
            let expected = try LifecycleFold.judged(events).flatMap(\.broken).map(\.rawValue).sorted()
            for _ in 0..<30 {
                let judged = try LifecycleFold.judged(events.shuffled(using: &random))
                #expect(judged.flatMap(\.broken).map(\.rawValue).sorted() == expected)
            }
        }
    }

    /// The rules that have no rows yet.
    static let unwritten: Set<ViolationKind> = [
        .scheduleMissing, .scheduleMoved,
    ]

    @Test("every violation has a name, a test row and a bucket")
    func everyViolationHasNameRowAndBucket() {
        let names = ViolationKind.allCases.map { "\($0.name)" }
        #expect(Set(names).count == 33)
        let rows = Self.order + Self.integrity + Self.timing + StageRows.rows + AcrossCycles.rows + LaunchRows.rows
        #expect(Set(rows.map(\.kind)) == Set(ViolationKind.allCases).subtracting(Self.unwritten))
        #expect(
            ViolationKind.allCases.filter { $0.bucket == .b } == [
                .leadBelowMinimum, .nextNotScheduled, .scheduledNotPersisted, .leadDiffers, .ttlDiffers, .ranTooLong,
                .cachedContentLost, .missedNotRescheduled, .notRescheduledAfterLaunch, .countersOutOfPattern,
            ]
        )
        #expect(
            ViolationKind.allCases.filter { $0.bucket == .c }
                == [.missedWindow, .executedAfterNotification, .driftExceeded, .expired]
        )
    }

    @Test("a cycle without a fault has no violation")
    func faultlessCycleHasNoViolation() throws {
        let cycles = try LifecycleFold.judged(Self.cycle())
        #expect(cycles.map(\.outcome) == [.used])
        #expect(cycles.flatMap(\.violations) == [])
    }
}

@Suite("Documented violations")
struct DocumentedRulesTests {
    @Test("the documentation lists every violation with its bucket, in order")
    func documentedViolationsAreThoseJudged() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = root.appending(path: "Sources/PrefetchLifecycle/PrefetchLifecycle.docc/Cycles.md")
        let rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { $0.split(separator: "|").prefix(2).joined(separator: "|") }
        #expect(rows == ViolationKind.allCases.map { " `\($0.name)` | \($0.bucket.rawValue) " })
    }
}

@Suite("Violations shown by a single event")
struct ShownViolationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let told: TestEvent
        let shown: [ViolationKind]

        init(_ description: String, _ told: TestEvent, _ shown: [ViolationKind]) {
            testDescription = description
            self.told = told
            self.shown = shown
        }
    }

    static func skewed(_ told: TestEvent, by seconds: Double) -> TestEvent {
        told.with { $0.clockSkew = Int64(seconds * 1_000_000) }
    }

    static let always = [
        Row("the system ended the task", TestEvent(.prefetchExpired, 0), [.expired]),
        Row("the app reports a missed window", TestEvent(.prefetchMissed, 0), [.missedWindow]),
        Row("the app reports a drift", TestEvent(.notificationDrift, 0), [.driftExceeded]),
        Row("the same where the time only orders", TestEvent(.notificationDrift, 0).assumed(), [.driftExceeded]),
    ]

    static let deliveries = [
        Row("180 s after its time", TestEvent(.notificationDelivered, 180, due: 0), []),
        Row("180.001 s after its time", TestEvent(.notificationDelivered, 180.001, due: 0), [.driftExceeded]),
        Row("180 s before its time", TestEvent(.notificationDelivered, -180, due: 0), []),
        Row("180.001 s before its time", TestEvent(.notificationDelivered, -180.001, due: 0), [.driftExceeded]),
        Row("no time to compare with", TestEvent(.notificationDelivered, 999), []),
        Row("a time that only orders", TestEvent(.notificationDelivered, 999, due: 0).assumed(), []),
        Row(
            "a clock that was 1,000 s behind",
            skewed(TestEvent(.notificationDelivered, -1_000, due: 0), by: 1_000),
            []
        ),
        Row(
            "a clock that was 181 s ahead",
            skewed(TestEvent(.notificationDelivered, 0, due: 0), by: -181),
            [.driftExceeded]
        ),
        Row(
            "180 s by the receiver's clock",
            skewed(TestEvent(.notificationDelivered, 100, due: 0), by: 80),
            []
        ),
        Row(
            "both at once",
            TestEvent(.notificationDelivered, 181, due: 0).ttl(10).aged(11),
            [.staleContentUsed, .driftExceeded]
        ),
    ]

    static let ages =
        [EventKind.prefetchUsedForNotification, .notificationDelivered, .prefetchCycleComplete]
        .flatMap { kind in
            [
                Row("\(kind.name) at its ttl", TestEvent(kind, 0).ttl(60).aged(60), []),
                Row("\(kind.name) behind its ttl", TestEvent(kind, 0).ttl(60).aged(60.000001), [.staleContentUsed]),
                Row("\(kind.name) of no age at no ttl", TestEvent(kind, 0).ttl(0).aged(0), []),
                Row("\(kind.name) of any age at no ttl", TestEvent(kind, 0).ttl(0).aged(0.000001), [.staleContentUsed]),
                Row("\(kind.name) without a ttl", TestEvent(kind, 0).aged(60), []),
                Row("\(kind.name) without an age", TestEvent(kind, 0).ttl(0), []),
                Row("\(kind.name) of a negative age", TestEvent(kind, 0).ttl(0).aged(-1), []),
                Row(
                    "\(kind.name) at an assumed time",
                    TestEvent(kind, 0).ttl(1).aged(2).assumed(),
                    [.staleContentUsed]
                ),
            ]
        } + [
            Row(
                "a summary of unused content",
                TestEvent(.prefetchCycleComplete, 0).ttl(1).aged(2).summing(used: false),
                []
            ),
            Row("a success of any age", TestEvent(.prefetchSuccess, 0).ttl(1).aged(2), []),
        ]

    static let leads = [
        Row("begins 60 s later", TestEvent(.prefetchScheduled, 0).begins(60), []),
        Row("begins 59.000001 s later", TestEvent(.prefetchScheduled, 0).begins(59.000001), []),
        Row("begins 59 s later", TestEvent(.prefetchScheduled, 0).begins(59), [.leadBelowMinimum]),
        Row("begins 58.9 s later", TestEvent(.prefetchScheduled, 0.1).begins(59), [.leadBelowMinimum]),
        Row("begins before it is scheduled", TestEvent(.prefetchScheduled, 0).begins(-1), [.leadBelowMinimum]),
        Row("begins nobody knows when", TestEvent(.prefetchScheduled, 0), []),
        Row("a time that only orders", TestEvent(.prefetchScheduled, 0).begins(1).assumed(), []),
        Row("an execution has no lead", TestEvent(.prefetchExecuted, 0).begins(1), []),
    ]

    static let executions = [
        Row("at the notification's time", TestEvent(.prefetchExecuted, 0, due: 0), []),
        Row("a millisecond later", TestEvent(.prefetchExecuted, 0.001, due: 0), [.executedAfterNotification]),
        Row("a millisecond earlier", TestEvent(.prefetchExecuted, -0.001, due: 0), []),
        Row("a time that only orders", TestEvent(.prefetchExecuted, 1, due: 0).assumed(), []),
        Row("a clock that was ahead", skewed(TestEvent(.prefetchExecuted, 5, due: 0), by: -5), []),
        Row(
            "a clock that was behind",
            skewed(TestEvent(.prefetchExecuted, 0, due: 0), by: 1),
            [.executedAfterNotification]
        ),
        Row("no time to compare with", TestEvent(.prefetchExecuted, 1), []),
    ]

    @Test("an event whose kind reports a violation shows it", arguments: always)
    func kindReportsItsViolation(row: Row) { #expect(row.told.shown == row.shown) }

    @Test("a delivery more than 180 s from its notification time shows a drift", arguments: deliveries)
    func deliveryShowsDrift(row: Row) { #expect(row.told.shown == row.shown) }

    @Test("used content older than its ttl shows stale content", arguments: ages)
    func usedContentShowsStaleness(row: Row) { #expect(row.told.shown == row.shown) }

    @Test("a scheduling with a lead below 60 s shows it", arguments: leads)
    func schedulingShowsAShortLead(row: Row) { #expect(row.told.shown == row.shown) }

    @Test("an execution after the notification time shows it", arguments: executions)
    func executionShowsItIsLate(row: Row) { #expect(row.told.shown == row.shown) }

    @Test("events of other kinds show no violation")
    func otherKindsShowNoViolation() {
        let rows = Self.always + Self.deliveries + Self.ages + Self.leads + Self.executions
        let showing = Set(rows.map(\.told.event.kind))
        for kind in EventKind.allCases where !showing.contains(kind) {
            let told = TestEvent(kind, 999, due: 0).begins(0).ttl(0).aged(9)
            #expect(told.shown.isEmpty)
        }
    }

    @Test("a single event shows what the verdict on its cycle finds", arguments: 0..<40)
    func shownViolationsAgreeWithTheVerdict(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let rules: Set<ViolationKind> = [
            .expired, .missedWindow, .driftExceeded, .staleContentUsed, .leadBelowMinimum, .executedAfterNotification,
        ]
        let kinds: [EventKind] = [
            .prefetchExpired, .prefetchMissed, .notificationDrift, .notificationDelivered,
            .prefetchUsedForNotification, .prefetchCycleComplete, .prefetchScheduled, .prefetchExecuted,
        ]
        for _ in 0..<50 {
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            func near(_ seconds: Double) -> Double { seconds + Double(Int.random(in: -2...2, using: &random)) / 1_000 }
            let around = [0.0, 180, -180, 60][Int.random(in: 0..<4, using: &random)]
            var told = TestEvent(kind, near(around), due: 0.0004).begins(near(around + 59))
            if kind == .prefetchCycleComplete { told = told.summing() }
            if Bool.random(using: &random) { told = told.ttl(60).aged(near(60)) }
            if Bool.random(using: &random) {
                told = Self.skewed(told, by: Double(Int.random(in: -3...3, using: &random)) * 0.5)
            }
            if Int.random(in: 0..<5, using: &random) == 0 { told = told.assumed() }
            var shown = told.shown
            // A cycle is judged by its use of the content, which a delivery alone does not show.
            if kind == .notificationDelivered { shown.removeAll { $0 == .staleContentUsed } }
            let judged = try #require(try LifecycleFold.judged([told]).first)
            // A task that never ran misses its window with time, not by what this event says.
            var broken = judged.broken.filter(rules.contains)
            if kind == .prefetchScheduled { broken.removeAll { $0 == .missedWindow } }
            #expect(broken == shown, "\(told.event)")
        }
    }
}
