// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents

/// An event with its texts.
struct Told: Sendable {
    var event: Event
    var texts: [UInt8] = []

    /// An event some seconds after `start`.
    ///
    /// - Parameters:
    ///   - id: the schedule's id; nil for an event without one.
    ///   - due: when the notification is due, in seconds after `start`.
    init(_ kind: EventKind, _ seconds: Double, id: String? = "a", due: Double? = nil) {
        event = Event(kind: kind, timestamp: .after(seconds))
        event.scheduledFor = due.map(Timestamp.after)
        if let id { event.scheduleId = append(id) }
    }

    private mutating func append(_ text: String) -> Range<Int> {
        texts.append(contentsOf: text.utf8)
        return texts.count - text.utf8.count..<texts.count
    }

    func with(_ change: (inout Event) -> Void) -> Told {
        var told = self
        change(&told.event)
        return told
    }

    func reason(_ reason: FailureReason) -> Told { with { $0.reason = reason } }
    func begins(_ seconds: Double) -> Told { with { $0.earliestBeginDate = .after(seconds) } }
    func ttl(_ seconds: Int64) -> Told { with { $0.ttl = seconds } }
    func aged(_ seconds: Double) -> Told { with { $0.age = Int64(seconds * 1_000_000) } }
    func unsuccessful() -> Told { with { $0.fetched = false } }
    func retried() -> Told { with { $0.willRetry = true } }
    func summing(fetched: Bool = true, used: Bool = true) -> Told {
        with {
            $0.fetched = fetched
            $0.usedCached = used
        }
    }
    func assumed() -> Told { with { $0.isTimeAssumed = true } }
    func of(_ installation: UInt64) -> Told { with { $0.installation = Pseudonym(high: installation, low: 1) } }

    func content(_ hash: String) -> Told {
        var told = self
        told.event.contentHash = told.append(hash)
        return told
    }

    func schedule(_ hash: String) -> Told {
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

    mutating func apply(_ events: [Told], at seconds: Double = 0) throws {
        var batch = EventBatch()
        for told in events { batch.append(told.event, texts: told.texts.span) }
        try apply(batch.bytes.span, receivedAt: .after(seconds))
    }

    /// The cycles that events come to once the input has ended.
    static func judged(_ events: [Told]) throws -> [ClosedCycle] {
        var fold = LifecycleFold.keeping()
        try fold.apply(events)
        fold.finish()
        return fold.takeClosedCycles()
    }
}

extension ClosedCycle {
    var broken: [ViolationKind] { violations.map(\.kind) }
}
