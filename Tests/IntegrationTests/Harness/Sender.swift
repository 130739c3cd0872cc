// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A client that sends batch after batch and retries each until it is acknowledged.
struct Sender: Sendable {
    let client: TelemetryClient
    let name: String
    /// Whether each batch has an Idempotency-Key.
    var usesKeys = false
    /// Whether it abandons some of the unanswered batches.
    var givesUp = false
    /// Whether runs of the background refresh come with the cycles.
    var hasRuns = false
    var cycles = 5...15
    var pause: Duration = .milliseconds(10)
    var seed: UInt64 = 1

    /// Sends until the signal is set, or until `limit` batches are through.
    func run(until stop: StopSignal, limit: Int = .max) async throws -> Delivery {
        var random = SplitMix64(seed: seed)
        var delivery = Delivery()
        var number = 0
        while !stop.isSet && number < limit {
            let batch = EventFactory(prefix: "\(name)-\(number)", hasRuns: hasRuns)
                .cycles(0..<Int.random(in: cycles, using: &random))
            try await deliver(batch, number: number, into: &delivery, random: &random, stop: stop)
            number += 1
            try await Task.sleep(for: pause)
        }
        return delivery
    }

    private func deliver(
        _ batch: EventBatch,
        number: Int,
        into delivery: inout Delivery,
        random: inout SplitMix64,
        stop: StopSignal
    ) async throws {
        let body = number.isMultiple(of: 2) ? batch.ndjson : batch.array
        let type = number.isMultiple(of: 2) ? "application/x-ndjson" : "application/json"
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: .seconds(60))
        while true {
            var mayHaveArrived = true
            do {
                let answer = try await client.post(
                    body,
                    type: type,
                    key: usesKeys ? "\(name)-\(number)" : nil,
                    within: .seconds(10)
                )
                if answer.status == 200 {
                    note(try answer.receipt(), of: batch, in: &delivery)
                    return
                }
                note(refusal: answer, in: &delivery)
                mayHaveArrived = false
            } catch is TelemetryClient.NotConnected {
                mayHaveArrived = false
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                delivery.unanswered += 1
            }
            delivery.retries += 1
            if givesUp && mayHaveArrived && Int.random(in: 0..<3, using: &random) == 0 {
                delivery.abandoned += batch
                return
            }
            guard clock.now < deadline else {
                throw DeadlineExceeded(fact: "batch \(number) of \(name) is acknowledged", limit: .seconds(60))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// A refusal is a 503 with Retry-After.
    private func note(refusal answer: Answer, in delivery: inout Delivery) {
        delivery.refused += 1
        if answer.status != 503 { delivery.contradictions.append("HTTP \(answer.status): \(answer.text)") }
        let seconds = answer.headers["retry-after"].flatMap { Int($0) } ?? 0
        if !(1...60).contains(seconds) { delivery.contradictions.append("Retry-After: \(seconds)") }
    }

    private func note(_ receipt: Answer.Receipt, of batch: EventBatch, in delivery: inout Delivery) {
        if receipt.rejected != [] || receipt.accepted + receipt.duplicates != batch.count {
            delivery.contradictions.append("\(batch.count) events sent: \(receipt)")
        }
        delivery.duplicates += receipt.duplicates
        delivery.acknowledged += batch
    }
}

/// The outcome of the events of a sender.
struct Delivery: Sendable {
    /// Answered with 200.
    var acknowledged = EventBatch()
    /// Sent, never answered, and abandoned.
    var abandoned = EventBatch()
    var retries = 0
    /// Refused requests.
    var refused = 0
    /// Requests cut off by a kill, which may have arrived.
    var unanswered = 0
    /// Events that turned out to have been counted before their batch was acknowledged.
    var duplicates = 0
    /// Answers that contradict what was sent.
    var contradictions: [String] = []

    static func + (left: Delivery, right: Delivery) -> Delivery {
        Delivery(
            acknowledged: left.acknowledged + right.acknowledged,
            abandoned: left.abandoned + right.abandoned,
            retries: left.retries + right.retries,
            refused: left.refused + right.refused,
            unanswered: left.unanswered + right.unanswered,
            duplicates: left.duplicates + right.duplicates,
            contradictions: left.contradictions + right.contradictions
        )
    }
}

extension EventBatch {
    static func + (left: EventBatch, right: EventBatch) -> EventBatch {
        EventBatch(
            lines: left.lines + right.lines,
            identities: left.identities + right.identities,
            totals: left.totals + right.totals,
            runs: left.runs + right.runs
        )
    }

    static func += (left: inout EventBatch, right: EventBatch) {
        left.lines += right.lines
        left.identities += right.identities
        left.totals += right.totals
        left.runs += right.runs
    }
}
