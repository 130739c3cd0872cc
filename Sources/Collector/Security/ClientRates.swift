// SPDX-License-Identifier: Apache-2.0

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
