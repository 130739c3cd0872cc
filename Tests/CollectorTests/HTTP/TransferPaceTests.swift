// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Collector

@Suite("The least rate of a body and a response")
struct TransferPaceTests {
    private let limits = ConnectionPhases.Limits(
        header: .seconds(10),
        body: .seconds(600),
        response: .seconds(600),
        idle: .seconds(75),
        transfer: TransferLimits(bytesPerSecond: 1_000, grace: .seconds(10))
    )

    private func at(_ seconds: Double) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .nanoseconds(Int64(seconds * 1e9))
    }

    /// A connection with a request whose body is to come.
    private func receiving() -> ConnectionPhases {
        var phases = ConnectionPhases(at: at(0), transfer: limits.transfer)
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: false, at: at(0))
        phases.readBegan(at: at(0))
        return phases
    }

    /// The service reads bytes, and reads on at once.
    private func body(_ phases: inout ConnectionPhases, _ bytes: Int, at second: Double) {
        phases.bodyCame(bytes, at: at(second))
        phases.readBegan(at: at(second))
    }

    /// A connection whose response is being sent, none of which the system has taken.
    private func answering() -> ConnectionPhases {
        var phases = receiving()
        phases.requestEnded(at: at(0))
        phases.answerBegan(at: at(0))
        return phases
    }

    private func verdict(_ phases: ConnectionPhases, at second: Double) -> ConnectionPhases.Verdict? {
        let verdict = phases.verdict(at: at(second), limits)
        if case .wait = verdict { return nil }
        return verdict
    }

    @Test("bytes pay for time at the least rate, and never for time to come")
    func transferPacePaid() {
        var pace = TransferPace(at: at(0), bytesPerSecond: 1_000)
        pace.transferred(3_000, at: at(5))
        #expect(pace.paid(at: at(5)) == at(3))
        pace.transferred(1_000_000, at: at(6))
        #expect(pace.paid(at: at(20)) == at(6))
        pace.transferred(.max, at: at(7))
        #expect(pace.paid(at: at(7)) == at(7))
        pace.pause(at: at(8))
        pace.pause(at: at(9))
        #expect(pace.isPaused && pace.paid(at: at(18)) == at(17))
        pace.resume(at: at(28))
        pace.resume(at: at(30))
        #expect(!pace.isPaused && pace.paid(at: at(30)) == at(27))
    }

    @Test("a body that drips byte by byte is refused after the grace, long before the time for the body is over")
    func transferPaceDrip() {
        var phases = receiving()
        var now = 0.0
        while verdict(phases, at: now) == nil, now < 600 {
            now += 0.3
            body(&phases, 1, at: now)
        }
        #expect(verdict(phases, at: now) == .refuse(.body))
        #expect((9.9...10.5).contains(now), "\(now)")
    }

    @Test("a body at the least rate has the whole time for the body, and much at once allows no silence afterwards")
    func transferPaceSteady() {
        var steady = receiving()
        for second in stride(from: 5.0, to: 599, by: 5) {
            body(&steady, 5_000, at: second)
            #expect(verdict(steady, at: second) == nil)
        }
        #expect(verdict(steady, at: 600) == .refuse(.body))

        var burst = receiving()
        body(&burst, 10_000_000, at: 1)
        #expect(verdict(burst, at: 10.9) == nil)
        #expect(verdict(burst, at: 11) == .refuse(.body))
    }

    @Test("the least rate does not hold while the service itself does not read")
    func transferPacePaused() {
        var phases = receiving()
        phases.bodyCame(1, at: at(2))
        #expect(verdict(phases, at: 500) == nil && !phases.isEvictable(at: at(500)))
        phases.readBegan(at: at(500))
        #expect(verdict(phases, at: 507) == nil && phases.isEvictable(at: at(507)))
        #expect(verdict(phases, at: 508.01) == .refuse(.body))
    }

    @Test("a client that stops to read its response is closed after the grace; one that reads at the least rate is not")
    func transferPaceResponse() {
        var silent = answering()
        silent.answerWent(0, isAll: false, at: at(5))
        #expect(verdict(silent, at: 9.9) == nil)
        #expect(verdict(silent, at: 10) == .close(.response))

        var slow = answering()
        for second in stride(from: 5.0, to: 599, by: 5) {
            slow.answerWent(5_000, isAll: false, at: at(second))
            #expect(verdict(slow, at: second) == nil)
        }
        #expect(verdict(slow, at: 600) == .close(.response))

        var streamed = answering()
        streamed.answerWent(0, isAll: true, at: at(300))
        #expect(verdict(streamed, at: 309) == nil, "the service had nothing to send")
        #expect(verdict(streamed, at: 310) == .close(.response))
    }

    @Test("a connection can be evicted once its client stalls a body or a response, and not while the service works")
    func transferPaceEviction() {
        var phases = receiving()
        #expect(!phases.isEvictable(at: at(0.9)) && phases.isEvictable(at: at(1)))
        body(&phases, 1, at: 1)
        #expect(phases.isEvictable(at: at(1.1)))
        body(&phases, 2_000, at: 1.2)
        #expect(!phases.isEvictable(at: at(2.1)) && phases.isEvictable(at: at(2.2)))
        phases.requestEnded(at: at(2.2))
        #expect(!phases.isEvictable(at: at(100)))
        phases.answerBegan(at: at(100))
        #expect(!phases.isEvictable(at: at(100.9)) && phases.isEvictable(at: at(101)))
        phases.answerWent(10_000, isAll: false, at: at(101))
        #expect(!phases.isEvictable(at: at(101.9)))
        phases.answerTaken(at: at(102))
        #expect(phases.isEvictable(at: at(102)), "it is idle")
    }

    @Test("a request that waits for a place is refused after the time for a head, unless a place came")
    func transferPaceQueue() {
        var phases = ConnectionPhases(at: at(0), transfer: limits.transfer)
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: false, at: at(0))
        phases.awaitPlace(at: at(1))
        phases.requestEnded(at: at(2))
        phases.awaitPlace(at: at(5))
        #expect(verdict(phases, at: 10.9) == nil && !phases.isEvictable(at: at(10.9)))
        #expect(verdict(phases, at: 11) == .shed && phases.canShed)
        phases.placeCame()
        #expect(verdict(phases, at: 11) == nil)
    }
}
