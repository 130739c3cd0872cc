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
