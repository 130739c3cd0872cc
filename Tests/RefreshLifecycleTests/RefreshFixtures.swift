// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import TestSupport

@testable import RefreshLifecycle
@testable import TelemetryEvents

/// 2025-11-15T05:53:00Z.
let start = Timestamp(seconds: 1_763_185_980)

extension Timestamp {
    static func after(_ seconds: Double) -> Timestamp {
        Timestamp(microseconds: start.microseconds + Int64((seconds * 1_000_000).rounded()))
    }
}

let minutes = 60.0
let hours = 3_600.0
let days = 86_400.0

/// An event of the background refresh, some seconds after `start`.
struct Told: Hashable, Sendable {
    var kind: EventKind
    var seconds: Double
    var installation: UInt64 = 1
    var truth: Bool?
    var number: Int64?
    var reason: RefreshSkipReason?
    var isAssumed = false
    var isAnalytics = false

    static func started(_ seconds: Double) -> Told { Told(kind: .refreshStarted, seconds: seconds) }
    static func checked(_ seconds: Double, _ daysSinceTest: Int64, _ isAvailable: Bool? = nil) -> Told {
        Told(
            kind: .refreshChecked,
            seconds: seconds,
            truth: isAvailable ?? (daysSinceTest >= 90),
            number: daysSinceTest
        )
    }
    static func completed(_ seconds: Double, _ isSuccessful: Bool? = true, took: Double? = 1.25) -> Told {
        Told(
            kind: .refreshCompleted,
            seconds: seconds,
            truth: isSuccessful,
            number: took.map { Int64(($0 * 1_000_000).rounded()) }
        )
    }
    static func expired(_ seconds: Double) -> Told { Told(kind: .refreshExpired, seconds: seconds) }
    static func skipped(_ seconds: Double, _ reason: RefreshSkipReason) -> Told {
        Told(kind: .refreshSkipped, seconds: seconds, reason: reason)
    }
    static func scheduled(_ seconds: Double) -> Told {
        Told(kind: .refreshScheduled, seconds: seconds, number: 14_400_000_000)
    }
    static func scheduleFailed(_ seconds: Double) -> Told { Told(kind: .refreshScheduleFailed, seconds: seconds) }
    static func sent(_ seconds: Double) -> Told { Told(kind: .refreshNotificationSent, seconds: seconds) }
    static func notificationFailed(_ seconds: Double) -> Told {
        Told(kind: .refreshNotificationFailed, seconds: seconds)
    }
    static func notAuthorized(_ seconds: Double) -> Told {
        Told(kind: .refreshNotificationSkipped, seconds: seconds, reason: .notAuthorized)
    }
    static func alreadyNotified(_ seconds: Double, _ daysAgo: Int64) -> Told {
        Told(kind: .refreshNotificationSkipped, seconds: seconds, number: daysAgo, reason: .alreadyNotified)
    }

    func of(_ installation: UInt64) -> Told {
        var told = self
        told.installation = installation
        return told
    }

    func after(_ seconds: Double) -> Told {
        var told = self
        told.seconds += seconds
        return told
    }

    /// The same as an analytics event tells it.
    func analytics() -> Told {
        var told = self
        told.isAnalytics = true
        return told
    }

    func assumed() -> Told {
        var told = self
        told.isAssumed = true
        return told
    }

    var event: Event {
        var event = Event(kind: kind, timestamp: .after(seconds))
        if installation != 0 { event.installation = Pseudonym(high: installation, low: 1) }
        event.isTimeAssumed = isAssumed
        event.isAnalytics = isAnalytics
        event.status = reason.map { Int64($0.rawValue) }
        switch kind {
        case .refreshCompleted: (event.fetched, event.duration) = (truth, number)
        case .refreshScheduled: event.duration = number
        default: (event.usedCached, event.itemCount) = (truth, number)
        }
        return event
    }
}

extension [Told] {
    var records: [UInt8] {
        var batch = EventBatch()
        let texts: [UInt8] = []
        for told in self { batch.append(told.event, texts: texts.span) }
        return batch.bytes
    }

    func after(_ seconds: Double) -> [Told] { map { $0.after(seconds) } }
    func of(_ installation: UInt64) -> [Told] { map { $0.of(installation) } }
    func analytics() -> [Told] { map { $0.analytics() } }

    /// A run that notifies and schedules the next one.
    static func run(_ daysSinceTest: Int64 = 100, at seconds: Double = 0) -> [Told] {
        [.started(0), .checked(1, daysSinceTest), .sent(1), .completed(2), .scheduled(2)].after(seconds)
    }

    /// A run that finds no test available.
    static func quiet(_ daysSinceTest: Int64 = 30, at seconds: Double = 0) -> [Told] {
        [.started(0), .checked(1, daysSinceTest), .completed(2), .scheduled(2)].after(seconds)
    }
}

extension RefreshFold {
    static func keeping(_ limits: RefreshLifecycleLimits = RefreshLifecycleLimits()) -> RefreshFold {
        RefreshFold(limits: limits, keepsClosedRuns: true)
    }

    mutating func apply(_ events: [Told], at seconds: Double = 0) throws {
        try apply(events.records.span, receivedAt: .after(seconds))
    }

    func hasTick(at seconds: Double) -> Bool {
        var fold = self
        return fold.isTickDue(at: .after(seconds))
    }

    mutating func tick(at seconds: Double) { tick(to: .after(seconds)) }

    /// Ticks until nothing is open.
    mutating func closeAll(from seconds: Double = 0) {
        for step in 0..<400 { tick(at: seconds + Double(step) * 20 * minutes) }
    }

    /// The runs of some events at the end of the input.
    static func judged(_ events: [Told]) throws -> [ClosedRun] {
        var fold = RefreshFold.keeping()
        try fold.apply(events)
        fold.finish()
        return fold.takeClosedRuns()
    }

    /// The totals of some events at the end of the input.
    static func total(_ events: [Told]) throws -> RefreshTotals {
        var fold = RefreshFold.keeping()
        try fold.apply(events)
        fold.finish()
        return fold.totals
    }
}

/// The violations of all runs of some events, by name.
func broken(_ events: [Told]) throws -> [String] {
    try RefreshFold.judged(events).flatMap { $0.violations.map { "\($0.kind.name)" } }.sorted()
}

/// The outcomes of all runs of some events, by name.
func outcomes(_ events: [Told]) throws -> [String] {
    try RefreshFold.judged(events).map { "\($0.outcome.name)" }
}

extension StateDelta {
    /// All pages that are written.
    var pages: [StatePage] {
        var delta = self
        var pages: [StatePage] = []
        while let page = delta.takePage() { pages.append(page) }
        return pages
    }
}

/// The checkpoint pages that a ledger keeps.
struct RefreshStore {
    var pages: [String: [UInt8]] = [:]

    mutating func save(_ delta: StateDelta) {
        for page in delta.pages { pages[page.key] = page.value }
    }

    func restore(_ limits: RefreshLifecycleLimits = RefreshLifecycleLimits()) throws -> RefreshFold {
        var fold = RefreshFold.keeping(limits)
        for (key, value) in pages.sorted(by: { $0.key < $1.key }) {
            try fold.restore(StatePage(key: key, value: value))
        }
        return fold
    }
}
