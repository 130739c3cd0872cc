// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("A delivery against every kind of trouble")
struct DeliveryModelTests {
    static let entries: UInt64 = 400

    @Test("each entry stands exactly once, whatever happens to journald and to the writer", arguments: 0..<400)
    func exactlyOnce(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var journald = ModelJournald()
        journald.storesBatches = seed % 5 != 0
        var writer = ModelWriter(number: 0, from: 0, to: Self.entries, seed: random.next())
        var positions: [UInt64] = [0]
        var now: UInt64 = 0
        for turn in 0..<100_000 where writer.session.confirmed < Self.entries {
            let isTroubled = turn < 600
            if !isTroubled { journald.recover() }
            if isTroubled, UInt64.random(in: 0..<20, using: &random) == 0,
                let fault = ModelJournald.Fault.allCases.randomElement(using: &random)
            {
                journald.suffer(fault, using: &random)
            }
            if isTroubled, UInt64.random(in: 0..<100, using: &random) == 0 {
                // The writer is killed; another one goes on from any position that was once confirmed.
                let position = positions.randomElement(using: &random) ?? 0
                writer = ModelWriter(number: writer.number + 1, from: position, to: Self.entries, seed: random.next())
            }
            journald.take(datagrams: Int.random(in: 0...3, using: &random))
            now = try writer.turn(&journald, now: now, using: &random)
            positions.append(writer.session.confirmed)
        }
        #expect(writer.session.confirmed == Self.entries, "\(writer.session.snapshot)")
        let numbers = journald.journal.compactMap { entry -> UInt64? in
            guard case .numbered(let number) = entry else { return nil }
            return number
        }
        expectOnce(numbers, 1...Self.entries)
    }

    @Test("an undisturbed delivery sends each entry once and synchronises once")
    func undisturbed() throws {
        var random = SplitMix(seed: 1)
        var journald = ModelJournald()
        var writer = ModelWriter(number: 0, from: 0, to: Self.entries, seed: 1)
        var now: UInt64 = 0
        for _ in 0..<10_000 where writer.session.confirmed < Self.entries {
            journald.take(datagrams: 1)
            now = try writer.turn(&journald, now: now, using: &random)
        }
        let statistics = writer.session.snapshot
        #expect(statistics.position == Self.entries)
        #expect(statistics.written == Self.entries)
        #expect(statistics.synchronisations == 1)
        #expect(statistics.lost == 0 && statistics.retried == 0 && statistics.repeated == 0)
        #expect(writer.session.isSettled)
    }

    @Test("a journald that discards everything is asked ever more rarely")
    func discarding() throws {
        var random = SplitMix(seed: 1)
        var journald = ModelJournald()
        journald.isDiscarding = true
        var writer = ModelWriter(number: 0, from: 0, to: Self.entries, seed: 1)
        var now: UInt64 = 0
        while now < 600 * DeliverySessionTests.second {
            journald.take(datagrams: 10)
            now = try writer.turn(&journald, now: now, using: &random)
        }
        #expect(writer.session.snapshot.synchronisations < 40)
        #expect(writer.session.snapshot.written == 0)
    }
}
