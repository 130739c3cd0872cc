// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Collector

@Suite("The deadlines of a connection")
struct ConnectionPhasesTests {
    private let limits = ConnectionPhases.Limits(
        header: .seconds(10),
        body: .seconds(60),
        response: .seconds(30),
        idle: .seconds(75),
        transfer: TransferLimits(bytesPerSecond: 1_000, grace: .seconds(100_000))
    )

    private func at(_ seconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .seconds(seconds)
    }

    private func connection() -> ConnectionPhases { ConnectionPhases(at: at(0), transfer: limits.transfer) }

    /// Asks as the scheduled task does, from one moment that is named to the next.
    ///
    /// - Returns: the second at which something other than to wait is said, and what.
    private func end(_ phases: ConnectionPhases, from second: Int64 = 0) -> (NIODeadline, ConnectionPhases.Verdict) {
        var now = at(second)
        while true {
            switch phases.verdict(at: now, limits) {
            case .wait(let until):
                #expect(until > now)
                now = until
            case let verdict: return (now, verdict)
            }
        }
    }

    private func expect(
        _ phases: ConnectionPhases,
        from second: Int64 = 0,
        ends: ConnectionPhases.Verdict,
        at last: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (moment, verdict) = end(phases, from: second)
        #expect(verdict == ends, sourceLocation: sourceLocation)
        #expect(moment == at(last), sourceLocation: sourceLocation)
    }

    @Test("the deadline of a silent connection begins when it is accepted, and it is closed without a word")
    func connectionPhasesSilent() {
        expect(connection(), ends: .close(.header), at: 10)
    }

    @Test("connection deadlines of a head begin with its first byte, whatever comes behind, and end with 408")
    func slowHead() {
        var phases = connection()
        for second in 1..<10 { phases.bytesCame(at: at(Int64(second))) }
        expect(phases, ends: .refuse(.header), at: 10)

        var second = connection()
        second.bytesCame(at: at(1))
        second.headCame(isLast: false, at: at(1))
        second.requestEnded(at: at(1))
        second.answerBegan(at: at(1))
        second.answerTaken(at: at(2))
        second.bytesCame(at: at(50))
        second.bytesCame(at: at(59))
        expect(second, from: 2, ends: .refuse(.header), at: 60)
    }

    @Test(
        "connection deadlines of a body begin with the end of the head; an answer that has been given is not given twice"
    )
    func slowBody() {
        var phases = connection()
        phases.bytesCame(at: at(1))
        phases.headCame(isLast: false, at: at(3))
        phases.bytesCame(at: at(50))
        expect(phases, ends: .refuse(.body), at: 63)

        phases.answerBegan(at: at(4))
        #expect(!phases.canRefuse)
        expect(phases, ends: .close(.response), at: 34)
    }

    @Test(
        "connection deadlines of a large body are not waited for where the answer was: it is the last one, and says so"
    )
    func refusedBody() {
        var phases = connection()
        phases.bytesCame(at: at(1))
        phases.headCame(isLast: false, at: at(1))
        let isLast = phases.answerBegan(at: at(2))
        #expect(isLast && phases.takesBytes && !phases.hasEnded)
        phases.answerTaken(at: at(2))
        #expect(phases.hasEnded)

        var whole = connection()
        whole.bytesCame(at: at(1))
        whole.headCame(isLast: false, at: at(1))
        whole.requestEnded(at: at(1))
        let isLastToo = whole.answerBegan(at: at(2))
        whole.answerTaken(at: at(2))
        #expect(!isLastToo && whole.takesBytes && !whole.hasEnded)
    }

    @Test(
        "connection deadlines of the rest of a small body are two seconds once it is answered; then the next request may come"
    )
    func refusedSmallBody() {
        var phases = connection()
        phases.bytesCame(at: at(1))
        phases.headCame(isLast: false, hasSmallBody: true, at: at(1))
        #expect(!phases.isSpare)
        let isLast = phases.answerBegan(at: at(2))
        expect(phases, from: 2, ends: .close(.response), at: 32)
        phases.answerTaken(at: at(4))
        #expect(!isLast && phases.takesBytes && !phases.hasEnded && phases.isSpare && !phases.canRefuse)
        expect(phases, from: 4, ends: .close(nil), at: 6)

        phases.requestEnded(at: at(5))
        phases.bytesCame(at: at(6))
        phases.headCame(isLast: false, at: at(6))
        phases.requestEnded(at: at(6))
        #expect(!phases.isSpare)
        let isLastToo = phases.answerBegan(at: at(7))
        phases.answerTaken(at: at(7))
        #expect(!isLastToo)
        expect(phases, from: 7, ends: .close(.idle), at: 82)
    }

    @Test(
        "connection deadlines are those of what was asked: nothing is taken behind the last request, and only its answer says so"
    )
    func connectionPhasesLast() {
        var phases = connection()
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: false, at: at(0))
        phases.requestEnded(at: at(0))
        phases.headCame(isLast: true, at: at(0))
        #expect(phases.takesBytes, "its body")
        phases.requestEnded(at: at(0))
        #expect(!phases.takesBytes)
        let answers = [phases.answerBegan(at: at(1)), phases.answerBegan(at: at(1))]
        #expect(answers == [false, true])
    }

    @Test("connection deadlines leave a connection to make room until the head of a request is complete")
    func spare() {
        var phases = connection()
        #expect(phases.isSpare)
        phases.bytesCame(at: at(0))
        #expect(phases.isSpare)
        phases.headCame(isLast: false, at: at(1))
        #expect(!phases.isSpare)
        phases.requestEnded(at: at(1))
        phases.answerBegan(at: at(1))
        #expect(!phases.isSpare)
        phases.answerTaken(at: at(2))
        #expect(phases.isSpare)
        phases.bytesCame(at: at(3))
        #expect(phases.isSpare)
    }

    @Test(
        "connection deadlines of an answer begin with its first byte, and there is none while the service works on it"
    )
    func unreadAnswer() {
        var phases = connection()
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: false, at: at(0))
        phases.requestEnded(at: at(1))
        #expect(phases.verdict(at: at(1_000), limits) == .wait(until: at(1_010)))
        phases.answerBegan(at: at(1_000))
        expect(phases, from: 1_000, ends: .close(.response), at: 1_030)
    }

    @Test("connection deadlines of one answer begin anew for the next, when requests come one behind the other")
    func connectionPhasesPipelined() {
        var phases = connection()
        phases.bytesCame(at: at(0))
        for _ in 0..<2 {
            phases.headCame(isLast: false, at: at(0))
            phases.requestEnded(at: at(0))
        }
        phases.answerBegan(at: at(1))
        phases.answerBegan(at: at(2))
        phases.answerTaken(at: at(20))
        #expect(!phases.isSpare)
        expect(phases, ends: .close(.response), at: 50)
        phases.answerTaken(at: at(30))
        #expect(phases.isSpare)
        expect(phases, from: 30, ends: .close(.idle), at: 105)
    }

    @Test("connection deadlines of a request wait for the answers before it, so that none is lost")
    func headBehindAnswers() {
        var phases = connection()
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: false, at: at(0))
        phases.requestEnded(at: at(0))
        phases.bytesCame(at: at(1))
        #expect(phases.verdict(at: at(20), limits) == .wait(until: at(30)))
        #expect(!phases.canRefuse)
        phases.answerBegan(at: at(20))
        phases.answerTaken(at: at(20))
        #expect(phases.canRefuse)
        expect(phases, from: 20, ends: .refuse(.header), at: 20)
    }

    @Test("connection deadlines are never set later than the shortest of them, so that no request has to set one")
    func lazily() {
        var phases = connection()
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: false, at: at(0))
        phases.requestEnded(at: at(0))
        phases.answerBegan(at: at(0))
        phases.answerTaken(at: at(0))
        #expect(phases.verdict(at: at(0), limits) == .wait(until: at(10)))
        #expect(phases.verdict(at: at(70), limits) == .wait(until: at(75)))
        expect(phases, ends: .close(.idle), at: 75)
    }

    @Test(
        "connection deadlines let a client read the last answer: it has two seconds, and as long as it sends in earnest that of a body"
    )
    func lingering() {
        var phases = connection()
        phases.bytesCame(at: at(0))
        phases.headCame(isLast: true, at: at(0))
        phases.requestEnded(at: at(0))
        #expect(!phases.hasEnded)
        phases.answerBegan(at: at(1))
        phases.answerTaken(at: at(1))
        #expect(phases.hasEnded)
        phases.beginLingering(at: at(1))
        phases.beginLingering(at: at(2))
        expect(phases, from: 1, ends: .close(nil), at: 3)

        for _ in 0..<100 { phases.bytesThrownAway(1, at: at(2)) }
        expect(phases, from: 2, ends: .close(nil), at: 3)
        phases.bytesThrownAway(LingeringClose.piece - 100, at: at(2))
        expect(phases, from: 2, ends: .close(nil), at: 4)
        for second in 3..<60 { phases.bytesThrownAway(LingeringClose.piece, at: at(Int64(second))) }
        expect(phases, from: 59, ends: .close(nil), at: 61)
        phases.bytesThrownAway(LingeringClose.piece, at: at(60))
        expect(phases, from: 60, ends: .close(nil), at: 61)

        phases.quiesce(at: at(10))
        expect(phases, from: 10, ends: .close(nil), at: 12)
    }

    @Test(
        "connection deadlines of a stop give a connection without a request a moment, in which one may come, half a head two seconds"
    )
    func quiescing() {
        var silent = connection()
        silent.quiesce(at: at(5))
        #expect(end(silent, from: 5) == (at(5) + ConnectionPhases.grace, .close(nil)))

        var half = connection()
        half.bytesCame(at: at(0))
        half.quiesce(at: at(5))
        expect(half, from: 5, ends: .refuse(nil), at: 7)
        var old = connection()
        old.bytesCame(at: at(0))
        old.quiesce(at: at(9))
        expect(old, from: 9, ends: .refuse(.header), at: 10)
        half.headCame(isLast: false, at: at(6))
        half.requestEnded(at: at(6))
        let isHalfLast = half.answerBegan(at: at(6))
        half.answerTaken(at: at(6))
        #expect(isHalfLast && half.hasEnded)

        var late = connection()
        late.bytesCame(at: at(0))
        late.headCame(isLast: false, at: at(0))
        late.requestEnded(at: at(0))
        late.answerBegan(at: at(4))
        late.quiesce(at: at(5))
        late.answerTaken(at: at(6))
        #expect(!late.hasEnded && late.takesBytes, "its answer did not say that the connection closes")
        #expect(end(late, from: 6) == (at(6) + ConnectionPhases.grace, .close(nil)))

        var busy = connection()
        busy.bytesCame(at: at(0))
        busy.headCame(isLast: false, at: at(0))
        busy.quiesce(at: at(5))
        expect(busy, from: 5, ends: .refuse(.body), at: 60)
        busy.requestEnded(at: at(6))
        let isLast = busy.answerBegan(at: at(6))
        busy.answerTaken(at: at(6))
        #expect(isLast && busy.hasEnded)
    }
}
