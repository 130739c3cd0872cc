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
        EventText.event(
            Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &random)],
            id: "cycle-\(Int.random(in: 0..<cycles, using: &random))",
            second: Int64.random(in: 0..<40, using: &random) * 60,
            Self.members[Int.random(in: 0..<Self.members.count, using: &random)]
        )
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
