// SPDX-License-Identifier: Apache-2.0

import Synchronization
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
    func tokens() {
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
    func givenBack() {
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
    func all() {
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
