// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import Journald

@Suite("Exactly once, with a real journald in trouble", .timeLimit(.minutes(5)))
struct TroubledJournaldTests {
    @Test("journald comes only after 10,000 entries were there")
    func absentAtFirst() throws {
        let journald = try TestJournald(starting: false)
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 10_000))
        try delivery.wait(for: "absence") { $0.state == .absent && $0.lastError != nil }
        #expect(delivery.writer.statistics.written == 0)
        try journald.start()
        try delivery.waitForPosition(10_000)
        #expect(try journald.sequences() == Array(1...10_000))
    }

    @Test("journald is stopped under load and started again")
    func restarted() throws {
        let journald = try TestJournald()
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 30_000))
        try delivery.waitForPosition(5_000)
        journald.stop()
        delivery.extend(to: 40_000)
        try delivery.wait(for: "absence") { $0.state == .absent }
        try journald.start()
        try delivery.waitForPosition(40_000)
        expectOnce(try journald.sequences(), 1...40_000)
        #expect(delivery.writer.statistics.reconnects > 0)
    }

    @Test("journald is killed under load, again and again", arguments: 0..<3)
    func killed(round: Int) throws {
        let journald = try TestJournald()
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 0))
        for kill in 1...6 as ClosedRange<UInt64> {
            delivery.extend(to: kill * 10_000)
            try delivery.waitForPosition((kill - 1) * 10_000 + 1_000 + UInt64(round) * 300)
            journald.killAtOnce()
            try journald.start()
        }
        try delivery.waitForPosition(60_000)
        expectOnce(try journald.sequences(), 1...60_000)
        let statistics = delivery.writer.statistics
        #expect(statistics.confirmed == 60_000)
        #expect(statistics.written == 60_000 + statistics.retried)
        #expect(statistics.lost == statistics.retried)
    }

    @Test("journald stalls under load and goes on")
    func stalled() throws {
        let journald = try TestJournald()
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 30_000))
        try delivery.waitForPosition(5_000)
        journald.signal(SIGSTOP)
        delivery.extend(to: 60_000)
        try delivery.wait(for: "absence") { $0.state == .absent }
        #expect(delivery.writer.statistics.written < 60_000)
        journald.signal(SIGCONT)
        try delivery.waitForPosition(60_000)
        expectOnce(try journald.sequences(), 1...60_000)
    }

    @Test("a stalled journald keeps nobody busy")
    func stalledIsIdle() throws {
        let journald = try TestJournald()
        let source = NumberedSource(upTo: 1_000)
        let delivery = try TestDelivery(journald, source)
        try delivery.waitForPosition(1_000)
        journald.signal(SIGSTOP)
        delivery.extend(to: 30_000)
        try delivery.wait(for: "absence") { $0.state == .absent }
        let before = (source.reads.load(ordering: .relaxed), delivery.writer.statistics.synchronisations)
        try delivery.wait(for: "three more tries") { $0.synchronisations >= before.1 + 3 }
        #expect(source.reads.load(ordering: .relaxed) == before.0)
        journald.signal(SIGCONT)
        try delivery.waitForPosition(30_000)
    }

    @Test("a rate limit only delays")
    func rateLimited() async throws {
        // journald multiplies the burst by up to 6 when the disk has room.
        let journald = try TestJournald(settings: "RateLimitIntervalSec=1s\nRateLimitBurst=100")
        let unit = try TestUnit(journald.namespace)
        unsafe setenv("JOURNALD_TESTS_UNIT", unit.path, 1)
        unsafe setenv("JOURNALD_TESTS_LIMITED", journald.namespace, 1)
        await #expect(processExitsWith: .success) {
            guard let unit = unsafe getenv("JOURNALD_TESTS_UNIT") else { exit(2) }
            guard let namespace = unsafe getenv("JOURNALD_TESTS_LIMITED") else { exit(3) }
            try TestUnit.enter(unsafe String(cString: unit))
            let configuration = TestDelivery.configuration(unsafe String(cString: namespace))
            let source = NumberedSource(upTo: 3_000)
            let writer = try ConfirmedJournalWriter(configuration, from: .start, source: source)
            try Deadline(.seconds(120)).wait(for: "\(writer.statistics)") { writer.statistics.position == 3_000 }
            let statistics = writer.statistics
            exit(statistics.lost > 0 && statistics.lost == statistics.retried ? 0 : 4)
        }
        expectOnce(try journald.sequences(), 1...3_000)
    }

    @Test("a journald that stores nothing is told, and gets everything once it does")
    func storesNothing() throws {
        let journald = try TestJournald(settings: "MaxLevelStore=err")
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 2_000))
        try delivery.wait(for: "a reason") { $0.state == .absent && $0.lastError?.contains("MaxLevelStore") == true }
        #expect(delivery.writer.statistics.written == 0)
        journald.stop()
        try journald.configure("RateLimitIntervalSec=0")
        try journald.start()
        try delivery.waitForPosition(2_000)
        #expect(try journald.sequences() == Array(1...2_000))
    }

    @Test("files are rotated under load")
    func rotated() throws {
        let journald = try TestJournald()
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 40_000)) { $0.readsPerOpening = 1_000 }
        for position in [5_000, 15_000, 25_000] as [UInt64] {
            try delivery.waitForPosition(position)
            _ = try journald.journalctl("--rotate")
        }
        try delivery.waitForPosition(40_000)
        #expect(try journald.sequences() == Array(1...40_000))
        #expect(delivery.writer.statistics.lost == 0)
    }
}
