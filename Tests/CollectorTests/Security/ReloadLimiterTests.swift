// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("Reloads over HTTP")
struct ReloadTurnsTests {
    @Test("who asks while one is under way shares it, however long it takes")
    func shared() {
        var turns = ReloadLimiter()
        #expect(turns.ask(at: 5) == .begin)
        #expect(turns.ask(at: 6) == .wait(.nanoseconds(999_999_999)))
        #expect(turns.ask(at: 5 + 10 * ReloadLimiter.interval) == .wait(.seconds(1)))
        turns.ended()
        #expect(turns.ask(at: 5 + 10 * ReloadLimiter.interval) == .begin)
    }

    @Test("begin a second apart, and who comes too early is told when to come")
    func apart() {
        var turns = ReloadLimiter()
        #expect(turns.ask(at: 1_000) == .begin)
        turns.ended()
        #expect(turns.ask(at: 1_000) == .wait(.seconds(1)))
        #expect(turns.ask(at: 400_001_000) == .wait(.milliseconds(600)))
        #expect(turns.ask(at: 1_000_001_000) == .begin)
        turns.ended()
        #expect(turns.ask(at: 1_000_001_001) == .wait(.nanoseconds(999_999_999)))
    }
}
