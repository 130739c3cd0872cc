// SPDX-License-Identifier: Apache-2.0

internal import Histogram
internal import TextOutput

/// What a delivery has sent so far, what was answered, and how long it took.
package struct DeliveryAccount: Sendable {
    /// Longer latencies are counted as this one, a day.
    private static let longestMicroseconds: UInt64 = 86_400_000_000

    /// Events that the collector stored.
    package private(set) var accepted: UInt64 = 0
    /// Events that the collector already had.
    package private(set) var duplicates: UInt64 = 0
    /// Events that the collector rejected.
    package private(set) var rejected: UInt64 = 0
    /// Why the first of them was rejected.
    package private(set) var firstRejection: String?
    /// Batches of which every event is stored.
    package private(set) var batches = 0
    /// Requests that were repeated since they were not answered, or told to come again.
    package internal(set) var retries = 0
    private var answers: [Int: Int] = [:]
    private var unanswered = 0
    private var lost = 0
    private var held = 0
    private var longestHold = Duration.zero
    private var latencies = Histogram<UInt64>(
        highestTrackableValue: longestMicroseconds,
        numberOfSignificantValueDigits: .two
    )

    /// How many events were stored, by this fleet or before.
    package var events: UInt64 { accepted + duplicates }

    mutating func add(_ reply: DeliveryReply) {
        switch reply.kind {
        case .answer(let status, _): answers[status, default: 0] += 1
        case .noAnswer: unanswered += 1
        case .lost: lost += 1
        }
    }

    mutating func add(_ receipt: BatchOutcome.Receipt, isRepeat: Bool) {
        accepted += receipt.accepted
        duplicates += receipt.duplicates
        guard !isRepeat else { return }
        rejected += receipt.rejectedTotal
        firstRejection = firstRejection ?? receipt.rejected.first?.reason
    }

    mutating func acknowledge(after latency: Duration) {
        batches += 1
        let microseconds = max(0, latency / .microseconds(1))
        latencies.record(min(UInt64(microseconds), Self.longestMicroseconds))
    }

    /// Counts a batch for which there was no room when it was due.
    mutating func hold(for duration: Duration) {
        held += 1
        longestHold = max(longestHold, duration)
    }

    /// What a share of the batches took at most, from when they were due.
    package func latency(ofPercent percent: Double) -> Duration {
        .microseconds(latencies.valueAtPercentile(percent))
    }
}

extension DeliveryAccount {
    /// The state of a delivery that goes on, on a line.
    package func line(waiting: Int, eventsPerSecond: Double, trouble: String?) -> String {
        var parts = ["\(batches) batches, \(waiting) waiting, \(Int(eventsPerSecond)) events/s"]
        if !answerWords.isEmpty { parts.append(answerWords) }
        if batches > 0 { parts.append(latencyWords) }
        if held > 0 { parts.append(holdWords) }
        if let trouble { parts.append("trying again: \(PlainText.line(String(trouble.prefix(100))))") }
        return parts.joined(separator: "; ")
    }

    /// The counts on a line, and how it went below.
    package func summary(elapsed: Duration, quiet: Bool) -> String {
        var text = "\(accepted) accepted, \(duplicates) duplicate, \(rejected) rejected\n"
        if quiet { return text }
        if let firstRejection { text += "  the first: \(PlainText.line(firstRejection))\n" }
        let seconds = max(elapsed / .seconds(1), 0.001)
        text += "\(batches) batches in \(elapsed.shown), \(Int(Double(events) / seconds)) events/s\n"
        if !answerWords.isEmpty { text += "answers: \(answerWords)\n" }
        if batches > 0 { text += "latency from the due time: \(latencyWords)\n" }
        if held > 0 { text += "\(holdWords)\n" }
        return text
    }

    private var answerWords: String {
        var words = answers.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
        if unanswered > 0 { words.append("\(unanswered) missing") }
        if lost > 0 { words.append("\(lost) lost on purpose") }
        return words.joined(separator: ", ")
    }

    private var latencyWords: String {
        let shares = [("p50", 50.0), ("p90", 90), ("p99", 99), ("max", 100)]
        return shares.map { "\($0) \(latency(ofPercent: $1).shown)" }.joined(separator: ", ")
    }

    private var holdWords: String {
        "the queue was full: \(held) batches were held back, for \(longestHold.shown) at most"
    }
}

extension Duration {
    /// With two or three digits: `0.4 ms`, `12 ms`, `1.5 s`, `120 s`.
    fileprivate var shown: String {
        let milliseconds = self / .milliseconds(1)
        let (value, unit) = milliseconds < 1_000 ? (milliseconds, "ms") : (milliseconds / 1_000, "s")
        return value < 10 ? "\((value * 10).rounded() / 10) \(unit)" : "\(Int(value.rounded())) \(unit)"
    }
}
