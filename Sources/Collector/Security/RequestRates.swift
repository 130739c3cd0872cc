// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Synchronization

/// The rates that requests and the events of tokens are kept to.
final class RequestRates: Sendable {
    /// How many seconds of a token's rate may come at once.
    static let tokenBurstSeconds = 2.0

    private let clients = Mutex(ClientRates())
    private let all = Mutex<TokenBucket?>(nil)
    /// One for each name of a token, which only the operator gives.
    private let tokens = Mutex<[String: TokenBucket]>([:])
    private let now: @Sendable () -> UInt64

    /// - Parameter now: nanoseconds of a monotonic clock.
    init(now: @escaping @Sendable () -> UInt64 = LedgerClock.system.monotonic) {
        self.now = now
    }

    /// After how long there is room for a request of a client; nil when there is and it was taken.
    func take(_ client: ClientAddress, rate: Double) -> Duration? {
        let now = now()
        return clients.withLock { $0.take(client, ClientRates.limit(rate), now: now) }
    }

    /// The same for the requests of all.
    func take(of limit: TokenBucket.Limit) -> Duration? {
        let now = now()
        return all.withLock { bucket in
            var taken = bucket ?? TokenBucket(limit, now: now)
            defer { bucket = taken }
            return taken.take(of: limit, now: now)
        }
    }

    /// After how long there is room for events of a token; nil when there is.
    func wait(token: String, rate: Double) -> Duration? {
        charge(0, token: token, rate: rate)
    }

    /// Takes the events of a batch while there is any room, or tells after how long there will be.
    func charge(_ events: Int, token: String, rate: Double) -> Duration? {
        let now = now()
        let limit = TokenBucket.Limit(rate: rate, burst: max(1, rate * Self.tokenBurstSeconds))
        return tokens.withLock {
            $0[token, default: TokenBucket(limit, now: now)].charge(Double(events), to: limit, now: now)
        }
    }

    /// Puts back what was taken for a batch that could not be stored, but for one: the work that it made.
    func giveBack(_ events: Int, token: String) {
        tokens.withLock { $0[token]?.giveBack(Double(max(0, events - 1))) }
    }
}

/// Keeps every client address to a number of requests a second, in bounded memory.
///
/// A bucket that nobody asked of for the time in which it fills is full again and needs no memory. So there are two
/// tables, each for that time: a client that comes is moved to the young one, and the old one is forgotten whole.
struct ClientRates {
    /// The clients that a table holds; more make it old before its time, which may give some a full bucket early.
    static let capacity = 16_384
    /// How many seconds of the rate may come at once.
    static let burstSeconds = 2.0

    private var young: [ClientAddress: TokenBucket] = [:]
    private var old: [ClientAddress: TokenBucket] = [:]
    private var youngSince: UInt64 = 0

    /// How many clients are remembered.
    var count: Int { young.count + old.count }

    /// The limit of a client at a rate a second.
    static func limit(_ rate: Double) -> TokenBucket.Limit {
        TokenBucket.Limit(rate: rate, burst: max(1, rate * burstSeconds))
    }

    /// Takes one request of a client, or tells after how long there is room for one.
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

/// A rate that is kept over time and may be passed for a moment: a bucket that fills at the rate up to the burst.
///
/// The time is nanoseconds of a monotonic clock; a time before the last one changes nothing.
struct TokenBucket: Equatable, Sendable {
    struct Limit: Equatable, Sendable {
        /// How many in a second; above 0.
        var rate: Double
        /// How many at once; at least 1.
        var burst: Double
    }

    private var left: Double
    private var filledAt: UInt64

    /// A full bucket.
    init(_ limit: Limit, now: UInt64) {
        left = limit.burst
        filledAt = now
    }

    /// Takes one, or tells after how long one will be there.
    mutating func take(of limit: Limit, now: UInt64) -> Duration? {
        refill(limit, now: now)
        guard left >= 1 else { return wait(for: 1 - left, limit) }
        left -= 1
        return nil
    }

    /// Takes any number while something is left, so that a batch larger than the burst passes too and what comes behind
    /// it waits the longer; else tells after how long something will be left.
    mutating func charge(_ amount: Double, to limit: Limit, now: UInt64) -> Duration? {
        if let wait = wait(of: limit, now: now) { return wait }
        left -= amount
        return nil
    }

    /// Puts back what was charged for nothing; above the burst it does not count.
    mutating func giveBack(_ amount: Double) {
        left += amount
    }

    /// After how long something is left; nil when something is.
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

    /// Never nothing, and a day at most.
    private func wait(for missing: Double, _ limit: Limit) -> Duration {
        .milliseconds(Int64(min(max(missing / limit.rate, 0.001), 86_400) * 1_000))
    }
}
