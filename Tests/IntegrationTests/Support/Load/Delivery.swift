// SPDX-License-Identifier: Apache-2.0

/// What a sender knows about the events that it sent.
struct Delivery: Sendable {
    /// Answered with 200.
    var acknowledged = EventBatch()
    /// Sent, never answered, and given up.
    var abandoned = EventBatch()
    var retries = 0
    /// Requests that were answered with a refusal.
    var refused = 0
    /// Requests that a kill cut off: they may have arrived or not.
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
            totals: left.totals + right.totals
        )
    }

    static func += (left: inout EventBatch, right: EventBatch) {
        left.lines += right.lines
        left.identities += right.identities
        left.totals += right.totals
    }
}
