// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Collector

@Suite("Rates of requests and of tokens")
struct RequestRatesTests {
    private final class Time: Sendable {
        private let nanoseconds = Mutex<UInt64>(0)
        var now: UInt64 { nanoseconds.withLock { $0 } }
        func advance(milliseconds: UInt64) { nanoseconds.withLock { $0 += milliseconds * 1_000_000 } }
    }

    @Test("a token has two seconds' worth at once, and a batch above it is paid with time by this token alone")
    func requestRatesTokens() {
        let time = Time()
        let rates = RequestRates { time.now }
        #expect(rates.wait(token: "a", rate: 100) == nil)
        #expect(rates.charge(199, token: "a", rate: 100) == nil)
        #expect(rates.charge(1_001, token: "a", rate: 100) == nil)
        #expect(rates.wait(token: "a", rate: 100) == .seconds(10))
        #expect(rates.charge(1, token: "a", rate: 100) == .seconds(10))
        #expect(rates.charge(200, token: "b", rate: 100) == nil)
        time.advance(milliseconds: 9_990)
        #expect(rates.wait(token: "a", rate: 100) != nil)
        time.advance(milliseconds: 20)
        #expect(rates.charge(1, token: "a", rate: 100) == nil)
    }

    @Test("what is given back to a token is there again but for one, for it alone")
    func requestRatesGivenBack() {
        let time = Time()
        let rates = RequestRates { time.now }
        for token in ["a", "b"] { #expect(rates.charge(1_000, token: token, rate: 100) == nil) }
        rates.giveBack(1_000, token: "a")
        rates.giveBack(1_000, token: "unknown")
        #expect(rates.wait(token: "a", rate: 100) == nil)
        #expect(rates.wait(token: "b", rate: 100) == .seconds(8))
        for _ in 0..<199 {
            #expect(rates.charge(1_000, token: "a", rate: 100) == nil)
            rates.giveBack(1_000, token: "a")
        }
        #expect(rates.wait(token: "a", rate: 100) == .milliseconds(1))
        rates.giveBack(0, token: "b")
        #expect(rates.wait(token: "b", rate: 100) == .seconds(8))
    }

    @Test("the rate of all holds whoever asks, and changes with the configuration")
    func requestRatesAll() {
        let time = Time()
        let rates = RequestRates { time.now }
        let limit = TokenBucket.Limit(rate: 1, burst: 3)
        #expect((0..<5).map { _ in rates.take(of: limit) } == [nil, nil, nil, .seconds(1), .seconds(1)])
        #expect(rates.take(of: TokenBucket.Limit(rate: 4, burst: 3)) == .milliseconds(250))
        time.advance(milliseconds: 251)
        #expect(rates.take(of: TokenBucket.Limit(rate: 4, burst: 3)) == nil)
        #expect(rates.take(ClientAddress(version4: 1), rate: 0.5) == nil)
        #expect(rates.take(ClientAddress(version4: 1), rate: 0.5) == .seconds(2))
        #expect(rates.take(ClientAddress(version4: 2), rate: 0.5) == nil)
    }
}

@Suite("Rates of clients")
struct ClientRatesTests {
    static let second: UInt64 = 1_000_000_000
    let limit = ClientRates.limit(5)

    private func client(_ text: String) throws -> ClientAddress {
        try #require(ClientAddress(SocketAddress(ipAddress: text, port: 1)))
    }

    @Test("each client has a rate of its own, whatever its port")
    func clientRatesOwn() throws {
        var rates = ClientRates()
        let (one, two) = (try client("192.0.2.1"), try client("192.0.2.2"))
        for _ in 0..<10 { #expect(rates.take(one, limit, now: 0) == nil) }
        #expect(rates.take(one, limit, now: 0) != nil)
        #expect(rates.take(two, limit, now: 0) == nil)
        #expect(rates.take(one, limit, now: Self.second) == nil)
    }

    @Test("the addresses of one /64 are one client, and an IPv4 address in IPv6 clothes is itself")
    func addresses() throws {
        #expect(try client("2001:db8:1:2::1") == client("2001:db8:1:2:ffff::9"))
        #expect(try client("2001:db8:1:2::1") != client("2001:db8:1:3::1"))
        #expect(try client("::ffff:192.0.2.1") == client("192.0.2.1"))
        #expect(try client("::1") != client("0.0.0.1"))
        #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/run/x")) == nil)
        #expect(ClientAddress(nil) == nil)
    }

    @Test("a client that keeps asking is never forgotten, at whatever pace it asks")
    func steady() throws {
        var rates = ClientRates()
        let one = try client("192.0.2.1")
        var taken = 0
        for step in 0..<6_000 where rates.take(one, limit, now: UInt64(step) * 10_000_000) == nil { taken += 1 }
        #expect((308...310).contains(taken))
        #expect(rates.count <= 2)
    }

    @Test("the memory is bounded however many addresses ask, and given back")
    func clientRatesBounded() throws {
        var rates = ClientRates()
        for address in 0..<200_000 {
            _ = rates.take(ClientAddress(version4: UInt32(address)), limit, now: UInt64(address))
            #expect(rates.count <= 2 * ClientRates.capacity)
        }
        _ = rates.take(try client("192.0.2.1"), limit, now: 100 * Self.second)
        #expect(rates.count == 1)
    }
}

@Suite("Rates of a bucket")
struct TokenBucketTests {
    static let second: UInt64 = 1_000_000_000
    let limit = TokenBucket.Limit(rate: 10, burst: 20)

    @Test("token bucket: the burst passes at once, then the rate, over any pattern of asking")
    func burstThenRate() {
        var bucket = TokenBucket(limit, now: 0)
        var taken = 0
        var generator = SplitMix64(7)
        var now: UInt64 = 0
        while now < 60 * Self.second {
            if bucket.take(of: limit, now: now) == nil { taken += 1 }
            now += UInt64.random(in: 0..<40_000_000, using: &generator)
        }
        #expect((619...620).contains(taken))
    }

    @Test("token bucket: who waits as long as told gets one, who waits less gets none")
    func wait() {
        var bucket = TokenBucket(limit, now: 5)
        for _ in 0..<20 { #expect(bucket.take(of: limit, now: 5) == nil) }
        let wait = bucket.take(of: limit, now: 5)
        #expect(wait == .milliseconds(100))
        var early = bucket
        #expect(early.take(of: limit, now: 5 + 99_000_000) != nil)
        #expect(bucket.take(of: limit, now: 5 + 100_000_001) == nil)
    }

    @Test("token bucket: a batch larger than the burst passes once, and is paid with time")
    func debt() {
        var bucket = TokenBucket(limit, now: 0)
        #expect(bucket.charge(1_020, to: limit, now: 0) == nil)
        #expect(bucket.charge(1, to: limit, now: 0) == .seconds(100))
        #expect(bucket.wait(of: limit, now: 60 * Self.second) == .seconds(40))
        #expect(bucket.charge(1, to: limit, now: 101 * Self.second) == nil)
    }

    @Test("token bucket: what is given back can be taken again, and nothing above the burst")
    func tokenBucketGivenBack() {
        var bucket = TokenBucket(limit, now: 0)
        #expect(bucket.charge(1_020, to: limit, now: 0) == nil)
        bucket.giveBack(1_020)
        #expect(bucket.charge(19, to: limit, now: 0) == nil)
        #expect(bucket.wait(of: limit, now: 0) == nil)
        bucket.giveBack(1_000)
        #expect(bucket.charge(21, to: limit, now: 0) == nil)
        #expect(bucket.wait(of: limit, now: 0) == .milliseconds(100))
    }

    @Test("token bucket: a clock that goes back gives nothing and takes nothing")
    func backwards() {
        var bucket = TokenBucket(limit, now: 100 * Self.second)
        for _ in 0..<20 { _ = bucket.take(of: limit, now: 100 * Self.second) }
        #expect(bucket.take(of: limit, now: 0) == .milliseconds(100))
        #expect(bucket.take(of: limit, now: 100 * Self.second) == .milliseconds(100))
        #expect(bucket.take(of: limit, now: .max) == nil)
    }

    @Test("token bucket: a limit that shrinks holds at once, and no wait is longer than a day")
    func tokenBucketChanged() {
        var bucket = TokenBucket(limit, now: 0)
        let smaller = TokenBucket.Limit(rate: 1e-9, burst: 1)
        #expect(bucket.take(of: smaller, now: 0) == nil)
        #expect(bucket.take(of: smaller, now: 0) == .seconds(86_400))
    }
}
