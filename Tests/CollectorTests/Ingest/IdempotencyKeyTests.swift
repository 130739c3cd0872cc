// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import TestSupport
import Testing

@Suite("An Idempotency-Key")
struct IdempotencyKeyTests {
    let pipeline: Pipeline
    let one = [EventText.scheduled("a"), EventText.scheduled("b")]
    let other = [EventText.scheduled("c")]

    init() throws {
        pipeline = try Pipeline(in: try TemporaryDirectory())
    }

    @Test("with the same body makes all of it duplicates")
    func sameBody() async throws {
        #expect(try await pipeline.submit(one, key: "k") == .counted(accepted: 2, duplicates: 0))
        #expect(try await pipeline.submit(one, key: "k") == .counted(accepted: 0, duplicates: 2))
        #expect(pipeline.page.accepted == 2)
        #expect(pipeline.page.duplicates == 2)
    }

    @Test("with another body is refused, and nothing is stored or counted")
    func otherBody() async throws {
        _ = try await pipeline.submit(one, key: "k")
        let (page, position) = (pipeline.page, pipeline.ledger.position)
        #expect(try await pipeline.submit(other, key: "k") == .keyReused)
        #expect(try await pipeline.submit(other, key: "k") == .keyReused)
        #expect(pipeline.ledger.position == position)
        #expect(pipeline.page.difference(from: page) == [])
        #expect(try await pipeline.submit(other) == .counted(accepted: 1, duplicates: 0))
    }

    @Test("with another body is refused as often as it comes within one group")
    func otherBodyTwiceInGroup() async throws {
        _ = try await pipeline.submit(one, key: "k")
        let results = await pipeline.submitTogether([
            .lines(other, key: "k"), .lines(other, key: "k"), .lines(one, key: "k"), .lines(other, key: "k"),
        ])
        #expect(
            results == [
                .success(.keyReused), .success(.keyReused), .success(.counted(accepted: 0, duplicates: 2)),
                .success(.keyReused),
            ]
        )
        #expect(pipeline.page.accepted == 2)
        #expect(pipeline.page.duplicates == 2)
    }

    @Test("is known within the group it first comes in")
    func withinGroup() async throws {
        let results = await pipeline.submitTogether([
            .lines(one, key: "k"), .lines(one, key: "k"), .lines(other, key: "k"), .lines(other, key: "l"),
        ])
        #expect(
            results == [
                .success(.counted(accepted: 2, duplicates: 0)), .success(.counted(accepted: 0, duplicates: 2)),
                .success(.keyReused), .success(.counted(accepted: 1, duplicates: 0)),
            ]
        )
        #expect(pipeline.writer.statistics.commits == 1)
    }

    @Test("does not hide that its events came before without it")
    func eventsKnown() async throws {
        _ = try await pipeline.submit([one[0]])
        #expect(try await pipeline.submit(one, key: "k") == .counted(accepted: 1, duplicates: 1))
        #expect(try await pipeline.submit(one, key: "l") == .counted(accepted: 0, duplicates: 2))
    }

    @Test("of a body in which nothing can be read is remembered like any other")
    func unreadableBody() async throws {
        #expect(try await pipeline.submit(["7"], key: "k") == .counted(accepted: 0, duplicates: 0))
        #expect(try await pipeline.submit(other, key: "k") == .keyReused)
    }

    @Test("takes nothing from a submission without one")
    func none() async throws {
        #expect(try await pipeline.submit(one) == .counted(accepted: 2, duplicates: 0))
        #expect(try await pipeline.submit([]) == .counted(accepted: 0, duplicates: 0))
        #expect(pipeline.ledger.position.batch == 1)
    }
}
