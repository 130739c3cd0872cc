// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport

@testable package import Collector
@testable import LedgerState

/// Submissions of chance over few cycles, so that cycles grow, events repeat and time closes some of them.
package struct Workload {
    private static let kinds = [
        "prefetch_scheduled", "prefetch_executed", "prefetch_success", "prefetch_failure", "prefetch_expired",
        "prefetch_completed", "prefetch_used_for_notification", "notification_delivered", "prefetch_cycle_complete",
        "prefetch_started", "plugin_started",
    ]
    private static let members = [
        "", "", #""reason":"AUTH""#, #""httpStatus":503"#, #""willRetry":true"#, #""fetched":true,"usedCached":true"#,
        #""fetched":false"#, #""notificationTime":"2025-11-16T05:53:00Z""#, #""unknown":1"#, #""duration_ms":-1"#,
    ]

    private static let refreshes = [
        ("refresh_started", ""), ("refresh_checked", #""daysSinceTest":100,"available":true"#),
        ("refresh_checked", #""daysSinceTest":20,"available":true"#), ("refresh_skipped", #""reason":"NO_NETWORK""#),
        ("refresh_completed", #""success":true,"durationSeconds":1.5"#), ("refresh_completed", #""success":false"#),
        ("refresh_expired", ""), ("refresh_scheduled", #""hours":4"#), ("refresh_schedule_failed", ""),
        ("refresh_notification_sent", ""), ("refresh_notification_skipped", #""reason":"NOT_AUTHORIZED""#),
    ]

    private var random: SplitMix64
    private let cycles: Int
    private var keys = 0

    package init(seed: UInt64, cycles: Int) {
        random = SplitMix64(seed)
        self.cycles = cycles
    }

    /// The next submission.
    package mutating func next() -> IngestSubmission {
        let lines = (0..<Int.random(in: 1...8, using: &random)).map { _ in event() }
        if Int.random(in: 0..<4, using: &random) == 0 { return reading(lines) }
        guard Int.random(in: 0..<4, using: &random) == 0 else { return .lines(lines) }
        keys += Int.random(in: 0...1, using: &random)
        return .lines(lines, key: "key-\(keys)")
    }

    /// Lines of one of a few followed files, at times without an event among them.
    private mutating func reading(_ lines: [String]) -> IngestSubmission {
        var counts = LogLineCounts()
        counts.recognised = UInt64.random(in: 0...5, using: &random)
        counts.foreign = UInt64.random(in: 0...5, using: &random)
        let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        return .reading(
            EventText.decode(Bool.random(using: &random) ? lines : []),
            origin: EventOrigin(.file, .log),
            lines: counts,
            position: SourcePosition(source: UInt64.random(in: 1...4, using: &random), bytes: bytes)
        )
    }

    private mutating func event() -> String {
        if Int.random(in: 0..<4, using: &random) == 0 { return refresh() }
        return EventText.event(
            Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &random)],
            id: "cycle-\(Int.random(in: 0..<cycles, using: &random))",
            second: Int64.random(in: 0..<40, using: &random) * 60,
            Self.members[Int.random(in: 0..<Self.members.count, using: &random)]
        )
    }

    /// An event of a background refresh; half of them of one device, the others of devices that are not told apart.
    private mutating func refresh() -> String {
        let kinds = Self.refreshes
        let (kind, members) = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        let time = Timestamp(microseconds: startOfTest + Int64.random(in: 0..<2_400, using: &random) * 1_000_000)
        let device = Bool.random(using: &random) ? #","installationId":"device""# : ""
        return #"{"event":"\#(kind)","timestamp":"\#(time)"\#(device),"properties":{\#(members)}}"#
    }

    /// How many seconds pass before the next submission: mostly few, at times days.
    package mutating func pause() -> Int64 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: Int64.random(in: 0...3 * 86_400, using: &random)
        case 1...3: Int64.random(in: 0...3_600, using: &random)
        default: Int64.random(in: 0...10, using: &random)
        }
    }

    /// True once in so many times.
    package mutating func happens(onceIn count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
}
