// SPDX-License-Identifier: Apache-2.0

/// Decides when a destination gets the next request, and what becomes of the one that it answered. It does no I/O and takes
/// the time as input.
///
/// What was taken or refused is done with. What may be sent again is, after a pause that doubles with each failure up to a
/// limit, with full jitter (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015), and is no shorter than
/// the receiver asks for. What is too large is cut in half until it is taken or cannot be cut further.
package struct DeliveryState: Sendable, Equatable {
    /// The limits of the pauses.
    package struct Pauses: Sendable, Equatable {
        package var first = Duration.milliseconds(500)
        package var longest = Duration.seconds(30)

        package init() {}
    }

    /// What to do with what was sent.
    package enum Decision: Sendable, Equatable {
        /// Go on behind it; so many of it were refused.
        case proceed(refused: UInt64)
        /// Send it again, at ``DeliveryState/earliest``.
        case again
        /// Send less of it at once, at most ``DeliveryState/limit``.
        case less
    }

    /// The largest request that is sent, in bytes before compression.
    package let maximum: Int
    private let pauses: Pauses
    /// How large the next request may be.
    package private(set) var limit: Int
    /// When the next request may be sent, on the clock of ``answered(_:count:size:now:using:)``.
    package private(set) var earliest = Duration.zero
    /// How many requests failed since the last one that was answered for good.
    package private(set) var failures = 0
    /// Why the last request was not taken; nil after one that was.
    package private(set) var complaint: String?

    package init(maximum: Int, pauses: Pauses = Pauses()) {
        self.maximum = maximum
        self.pauses = pauses
        limit = maximum
    }

    /// Takes note of an answer.
    ///
    /// - Parameters:
    ///   - count: how many records or points were sent.
    ///   - size: their bytes before compression.
    ///   - now: since some start.
    package mutating func answered(
        _ outcome: ExportOutcome,
        count: Int,
        size: Int,
        now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        switch outcome {
        case .taken(let refused, let note):
            failures = 0
            earliest = now
            complaint = refused > 0 ? note : nil
            limit = min(limit * 2, maximum)
            return .proceed(refused: min(refused, UInt64(max(count, 0))))
        case .refused(let reason): return refuse(reason, count, now)
        case .again(let reason, let after):
            let ceiling = min(pauses.first * (1 << min(failures, 16)), pauses.longest)
            failures += 1
            complaint = reason
            earliest = now + max(ceiling * Double.random(in: 0..<1, using: &random), after ?? .zero)
            return .again
        case .tooLarge(let reason):
            guard count > 1 else { return refuse(reason, count, now) }
            complaint = reason
            limit = max(min(limit, size) / 2, 1)
            return .less
        case .otherVersion: return .again
        }
    }

    private mutating func refuse(_ reason: String, _ count: Int, _ now: Duration) -> Decision {
        failures = 0
        earliest = now
        complaint = reason
        return .proceed(refused: UInt64(max(count, 0)))
    }

    /// Whether the last request was taken.
    package var isUp: Bool { complaint == nil }
}
