// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Synchronization

/// Limits the rates of requests, by client and in total, and of events by token.
final class RequestRates: Sendable {
    /// The burst of a token, in seconds of its rate.
    private static let tokenBurstSeconds = 2.0

    private let clients = Mutex(ClientRates())
    private let all = Mutex<TokenBucket?>(nil)
    /// By the token's name; the operator bounds their number.
    private let tokens = Mutex<[String: TokenBucket]>([:])
    private let now: @Sendable () -> UInt64

    /// - Parameter now: nanoseconds of a monotonic clock.
    init(now: @escaping @Sendable () -> UInt64 = LedgerClock.system.monotonic) {
        self.now = now
    }

    /// Takes a request of a client's rate; else the time to wait.
    func take(_ client: ClientAddress, rate: Double) -> Duration? {
        let now = now()
        return clients.withLock { $0.take(client, ClientRates.limit(rate), now: now) }
    }

    /// Takes a request of the rate of all clients; else the time to wait.
    func take(of limit: TokenBucket.Limit) -> Duration? {
        let now = now()
        return all.withLock { bucket in
            var taken = bucket ?? TokenBucket(limit, now: now)
            defer { bucket = taken }
            return taken.take(of: limit, now: now)
        }
    }

    /// The time until events of a token are allowed; nil if they are.
    func wait(token: String, rate: Double) -> Duration? {
        charge(0, token: token, rate: rate)
    }

    /// Charges the events of a batch to a token if anything of its rate is left; else the time to wait.
    func charge(_ events: Int, token: String, rate: Double) -> Duration? {
        let now = now()
        let limit = TokenBucket.Limit(rate: rate, burst: max(1, rate * Self.tokenBurstSeconds))
        return tokens.withLock {
            $0[token, default: TokenBucket(limit, now: now)].charge(Double(events), to: limit, now: now)
        }
    }

    /// Refunds a batch that could not be stored, except for one event: the work that it made.
    func giveBack(_ events: Int, token: String) {
        tokens.withLock { $0[token]?.giveBack(Double(max(0, events - 1))) }
    }
}

/// Limits the request rate of each client address, in bounded memory.
///
/// A bucket that is unused for the time in which it fills is full again and can be forgotten. So there are two
/// generations of that length: a request moves its client to the young one, and the old one is dropped as a whole.
struct ClientRates {
    /// The clients in a generation; more end it early, which may refill the buckets of some.
    static let capacity = 16_384
    /// The burst of a client, in seconds of its rate.
    private static let burstSeconds = 2.0

    private var young: [ClientAddress: TokenBucket] = [:]
    private var old: [ClientAddress: TokenBucket] = [:]
    private var youngSince: UInt64 = 0

    /// The clients remembered.
    var count: Int { young.count + old.count }

    /// The limit for a rate in requests a second.
    static func limit(_ rate: Double) -> TokenBucket.Limit {
        TokenBucket.Limit(rate: rate, burst: max(1, rate * burstSeconds))
    }

    /// Takes one request of a client; else the time to wait.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    mutating func take(_ client: ClientAddress, _ limit: TokenBucket.Limit, now: UInt64) -> Duration? {
        let fillTime = UInt64(min(limit.burst / limit.rate, 86_400) * 1e9)
        if young.count >= Self.capacity || now > youngSince &+ fillTime {
            let isOldToo = now > youngSince &+ fillTime &* 2
            old = isOldToo ? [:] : young
            young = [:]
            youngSince = now
        }
        var bucket = young[client] ?? old.removeValue(forKey: client) ?? TokenBucket(limit, now: now)
        defer { young[client] = bucket }
        return bucket.take(of: limit, now: now)
    }
}

/// A token bucket: it fills at the rate up to the burst.
///
/// Times are nanoseconds of a monotonic clock; an earlier time than the last has no effect.
struct TokenBucket: Equatable, Sendable {
    struct Limit: Equatable, Sendable {
        /// Per second; above 0.
        var rate: Double
        /// At least 1.
        var burst: Double
    }

    private var left: Double
    private var filledAt: UInt64

    /// A full bucket.
    init(_ limit: Limit, now: UInt64) {
        left = limit.burst
        filledAt = now
    }

    /// Takes one; else the time to wait.
    mutating func take(of limit: Limit, now: UInt64) -> Duration? {
        refill(limit, now: now)
        guard left >= 1 else { return wait(for: 1 - left, limit) }
        left -= 1
        return nil
    }

    /// Takes any amount if something is left; else the time to wait.
    ///
    /// So a batch larger than the burst passes too, and the next one waits for longer.
    mutating func charge(_ amount: Double, to limit: Limit, now: UInt64) -> Duration? {
        if let wait = wait(of: limit, now: now) { return wait }
        left -= amount
        return nil
    }

    /// Refunds a charge, up to the burst.
    mutating func giveBack(_ amount: Double) {
        left += amount
    }

    /// The time until something is left; nil if something is.
    mutating func wait(of limit: Limit, now: UInt64) -> Duration? {
        refill(limit, now: now)
        return left > 0 ? nil : wait(for: -left, limit)
    }

    private mutating func refill(_ limit: Limit, now: UInt64) {
        if now > filledAt {
            left += Double(now - filledAt) / 1e9 * limit.rate
            filledAt = now
        }
        left = min(left, limit.burst)
    }

    /// From 1 ms to a day.
    private func wait(for missing: Double, _ limit: Limit) -> Duration {
        .milliseconds(Int64(min(max(missing / limit.rate, 0.001), 86_400) * 1_000))
    }
}
