// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

@testable import CollectorClient
@testable import LogInput

/// What comes of an input that is read in pieces.
struct CutInput {
    private(set) var batches: [SendBatch] = []
    private(set) var account = SendAccount()

    /// - Parameters:
    ///   - piece: how many bytes are read at once.
    ///   - interval: how much time passes between two readings.
    init(
        _ input: String,
        piece: Int = .max,
        isLive: Bool = false,
        interval: Duration = .zero,
        format: String? = nil
    ) throws {
        var cutter = SendCutter(try LineFormat(named: format, timezone: "UTC"), isLive: isLive)
        var elapsed = Duration.zero
        var rest = Array(input.utf8)[...]
        while !rest.isEmpty {
            let bytes = Array(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            batches += try cutter.take(bytes, at: Self.moment(elapsed))
            elapsed += interval
            batches += try cutter.tick(at: Self.moment(elapsed))
        }
        batches += try cutter.finish(at: Self.moment(elapsed))
        account = cutter.account
    }

    static func moment(_ elapsed: Duration) -> SendCutter.Moment {
        SendCutter.Moment(
            elapsed: elapsed,
            wall: Timestamp(microseconds: 1_763_200_000_000_000 + elapsed.components.seconds * 1_000_000)
        )
    }

    var texts: [String] { batches.map { String(decoding: $0.body, as: UTF8.self) } }
}

/// Lines of events that differ.
func eventLines(_ range: Range<Int>) -> String {
    range.map { number in
        """
        {"event":"prefetch_executed","timestamp":"2025-11-15T05:50:00Z","scheduleId":"schedule-\(number)"}

        """
    }.joined()
}
