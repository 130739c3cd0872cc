// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle

@testable import TelemetryEvents

/// An event with its texts, built up by chained calls.
struct TestEvent: Sendable {
    var event: Event
    var texts: [UInt8] = []

    /// An event some seconds after `start`.
    ///
    /// - Parameters:
    ///   - id: the schedule's id; nil for an event without one.
    ///   - due: the notification time, in seconds after `start`.
    init(_ kind: EventKind, _ seconds: Double, id: String? = "a", due: Double? = nil) {
        event = Event(kind: kind, timestamp: .after(seconds))
        event.scheduledFor = due.map(Timestamp.after)
        if let id { event.scheduleId = append(id) }
    }

    private mutating func append(_ text: String) -> Range<Int> {
        texts.append(contentsOf: text.utf8)
        return texts.count - text.utf8.count..<texts.count
    }

    func with(_ change: (inout Event) -> Void) -> TestEvent {
        var told = self
        change(&told.event)
        return told
    }

    func reason(_ reason: FailureReason) -> TestEvent { with { $0.reason = reason } }
    func begins(_ seconds: Double) -> TestEvent { with { $0.earliestBeginDate = .after(seconds) } }
    func leading(_ minutes: Int64?) -> TestEvent { with { $0.minutes = minutes } }
    func ttl(_ seconds: Int64) -> TestEvent { with { $0.ttl = seconds } }
    func aged(_ seconds: Double) -> TestEvent { with { $0.age = Int64(seconds * 1_000_000) } }
    func unsuccessful() -> TestEvent { with { $0.fetched = false } }
    func retried() -> TestEvent { with { $0.willRetry = true } }
    func final() -> TestEvent { with { $0.willRetry = false } }
    func summing(fetched: Bool = true, used: Bool = true) -> TestEvent {
        with {
            $0.fetched = fetched
            $0.usedCached = used
        }
    }
    func assumed() -> TestEvent { with { $0.isTimeAssumed = true } }
    func lasting(_ seconds: Double) -> TestEvent { with { $0.duration = Int64(seconds * 1_000_000) } }
    func skewed(_ microseconds: Int64) -> TestEvent { with { $0.clockSkew = microseconds } }
    func of(_ installation: UInt64) -> TestEvent { with { $0.installation = Pseudonym(high: installation, low: 1) } }

    /// The same event with another address, or with none.
    func addressed(id: String?, due: Double?) -> TestEvent {
        var told = with { $0.scheduledFor = due.map(Timestamp.after) }
        told.event.scheduleId = id.map { told.append($0) } ?? 0..<0
        return told
    }

    func failing(_ error: String) -> TestEvent {
        var told = self
        told.event.error = told.append(error)
        return told
    }

    func from(_ platform: String?, _ version: String?) -> TestEvent {
        var told = self
        if let platform { told.event.platform = told.append(platform) }
        if let version { told.event.appVersion = told.append(version) }
        return told
    }

    /// The same event with client counters.
    func reporting(_ counters: KeyValuePairs<ClientCounter, UInt64>) -> TestEvent {
        counters.reduce(self) { $0.reporting($1.key, $1.value) }
    }

    /// The same event with one more counter; the counters must be its last texts.
    func reporting(_ counter: ClientCounter, _ value: UInt64) -> TestEvent {
        var told = self
        let first = told.event.clientCounters.isEmpty ? told.texts.count : told.event.clientCounters.lowerBound
        ClientStateRecord.append(counter, value, to: &told.texts)
        told.event.clientCounters = first..<told.texts.count
        return told
    }

    func content(_ hash: String) -> TestEvent {
        var told = self
        told.event.contentHash = told.append(hash)
        return told
    }

    func schedule(_ hash: String) -> TestEvent {
        var told = self
        told.event.scheduleHash = told.append(hash)
        return told
    }
}

extension Timestamp {
    static func after(_ seconds: Double) -> Timestamp {
        Timestamp(microseconds: start.microseconds + Int64(seconds * 1_000_000))
    }
}

extension LifecycleFold {
    /// A fold that keeps what it closes.
    static func keeping(limits: LifecycleLimits = LifecycleLimits(), deduplicates: Bool = true) -> LifecycleFold {
        LifecycleFold(
            key: IdentityKey(3, 4),
            limits: limits,
            keepsClosedCycles: true,
            deduplicates: deduplicates
        )
    }

    mutating func apply(_ events: [TestEvent], at seconds: Double = 0) throws {
        var batch = EventBatch()
        for told in events { batch.append(told.event, texts: told.texts.span) }
        try apply(batch.bytes.span, receivedAt: .after(seconds))
    }

    /// Applies the new ones of the events, as ingest does.
    ///
    /// - Returns: the number of new events.
    @discardableResult
    mutating func accept(_ events: [TestEvent], at seconds: Double = 0) throws -> Int {
        let new = events.filter { told in
            var batch = EventBatch()
            batch.append(told.event, texts: told.texts.span)
            var cursor = EventCursor()
            guard let event = try? cursor.next(in: batch.bytes.span) else { return false }
            return propose(IdentityKey(3, 4).identity(of: event, in: batch.bytes.span))
        }
        try apply(new, at: seconds)
        clearProposals()
        return new.count
    }

    /// The cycles of events at the end of the input.
    static func judged(_ events: [TestEvent]) throws -> [ClosedCycle] {
        var fold = LifecycleFold.keeping()
        try fold.apply(events)
        fold.finish()
        return fold.takeClosedCycles()
    }
}

extension ClosedCycle {
    var broken: [ViolationKind] { violations.map(\.kind) }
}

extension TestEvent {
    /// The violations that it shows by itself.
    var shown: [ViolationKind] { event.shownViolations(in: texts.span) }
}

extension TestEvent {
    /// The same event with a rolling window; it must be its last text.
    func pending(_ pending: Int64, limit: Int64?) -> TestEvent {
        var told = self
        let first = told.texts.count
        ClientStateRecord.append(.pending, UInt64(pending), to: &told.texts)
        if let limit { ClientStateRecord.append(.limit, UInt64(limit), to: &told.texts) }
        told.event.clientCounters = first..<told.texts.count
        return told
    }
}
