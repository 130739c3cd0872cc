// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import HTTPTypes
import HummingbirdCore
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("An event counts once")
struct DuplicateTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("an event counts once within one submission")
    func withinSubmission() async throws {
        let pipeline = try Pipeline(in: directory)
        let (a, b) = (EventText.scheduled("a"), EventText.scheduled("b"))
        #expect(try await pipeline.submit([a, a, b, a]) == .counted(accepted: 2, duplicates: 2))
        #expect(pipeline.page.accepted == 2)
        #expect(pipeline.page.duplicates == 2)
        #expect(pipeline.page.scheduled == 2)
        try await pipeline.close()
    }

    @Test("an event counts once across the submissions of one group")
    func duplicateWithinGroup() async throws {
        let pipeline = try Pipeline(in: directory)
        let (a, b, c) = (EventText.scheduled("a"), EventText.scheduled("b"), EventText.scheduled("c"))
        let results = await pipeline.submitTogether([.lines([a, b]), .lines([b, c]), .lines([a, b, c])])
        #expect(
            results == [
                .success(.counted(accepted: 2, duplicates: 0)), .success(.counted(accepted: 1, duplicates: 1)),
                .success(.counted(accepted: 0, duplicates: 3)),
            ]
        )
        #expect(pipeline.writer.statistics.commits == 1)
        #expect(pipeline.page.accepted == 3)
        #expect(pipeline.page.duplicates == 4)
        #expect(pipeline.page.scheduled == 3)
        try await pipeline.close()
    }

    @Test("an event counts once across groups, and the bytes in the ledger are those of the new events")
    func acrossGroups() async throws {
        let pipeline = try Pipeline(in: directory)
        let (a, b, c) = (EventText.scheduled("a"), EventText.scheduled("b"), EventText.scheduled("c"))
        _ = try await pipeline.submit([b])
        #expect(try await pipeline.submit([a, b, c]) == .counted(accepted: 2, duplicates: 1))
        #expect(try await pipeline.submit([a, b, c]) == .counted(accepted: 0, duplicates: 3))
        let batches = try pipeline.ledger.reader.read(afterBatch: 0)
        #expect(batches.map(\.batch.count) == [1, 2, 0])
        #expect(batches[1].batch.events == EventText.decode([a, c]).events.bytes)
        try await pipeline.close()
    }

    @Test("an event counts once across restarts, after a clean stop and after a crash", arguments: [true, false])
    func acrossRestarts(isClean: Bool) async throws {
        let first = try Pipeline(in: directory)
        let (a, b) = (EventText.scheduled("a"), EventText.scheduled("b"))
        _ = try await first.submit([a], key: "k")
        let image = isClean ? directory : try directory.crashImage()
        try await first.close()

        let second = try Pipeline(in: image)
        #expect(second.page.difference(from: first.page) == [])
        #expect(try await second.submit([a]) == .counted(accepted: 0, duplicates: 1))
        #expect(try await second.submit([a], key: "k") == .counted(accepted: 0, duplicates: 1))
        #expect(try await second.submit([b], key: "k") == .keyReused)
        #expect(try await second.submit([b]) == .counted(accepted: 1, duplicates: 0))
        #expect(second.page.accepted == 2)
        #expect(second.page.duplicates == 2)
        try await second.close()
    }

    @Test("an event counts again once it is older than what is remembered")
    func forgotten() async throws {
        // So small that no identity is remembered for its place in the ledger alone.
        var limits = LifecycleLimits()
        limits.identities = 79
        let pipeline = try Pipeline(in: directory, limits: limits)
        let a = EventText.scheduled("a")
        _ = try await pipeline.submit([a])
        for day in 1...7 {
            pipeline.clock.advance(seconds: 86_400 - 1)
            #expect(try await pipeline.submit([a]) == .counted(accepted: 0, duplicates: 1), "day \(day)")
        }
        for day in 8...14 {
            pipeline.clock.advance(seconds: 86_400)
            _ = try await pipeline.submit([EventText.scheduled("day \(day)")])
        }
        #expect(try await pipeline.submit([a]) == .counted(accepted: 1, duplicates: 0))
        try await pipeline.close()
    }

    @Test("rejections and unknown fields are counted each time they come")
    func rejectionsAddUp() async throws {
        let pipeline = try Pipeline(in: directory)
        let lines = [EventText.scheduled("a"), "7", EventText.event("prefetch_started", id: "b", #""x":1,"y":2"#)]
        _ = try await pipeline.submit(lines)
        _ = try await pipeline.submit(lines)
        let page = pipeline.page
        #expect(page.accepted == 2)
        #expect(page.duplicates == 2)
        #expect(page.rejected == 2)
        #expect(page.received == 6)
        #expect(page["dnp_telemetry_unknown_fields_total"] == 4)
        #expect(page[#"dnp_telemetry_events_rejected_total{reason="not_an_object"}"#] == 2)
        #expect(page[#"dnp_telemetry_events_received_total{source="http",format="ndjson"}"#] == 6)
        try await pipeline.close()
    }
}

@Suite("An Idempotency-Key")
struct IdempotencyKeyTests {
    let pipeline: Pipeline
    let one = [EventText.scheduled("a"), EventText.scheduled("b")]
    let other = [EventText.scheduled("c")]

    init() throws {
        pipeline = try Pipeline(in: try TemporaryDirectory())
    }

    @Test("an Idempotency-Key with the same body makes all of it duplicates")
    func sameBody() async throws {
        #expect(try await pipeline.submit(one, key: "k") == .counted(accepted: 2, duplicates: 0))
        #expect(try await pipeline.submit(one, key: "k") == .counted(accepted: 0, duplicates: 2))
        #expect(pipeline.page.accepted == 2)
        #expect(pipeline.page.duplicates == 2)
    }

    @Test("an Idempotency-Key with another body is refused, and nothing is stored or counted")
    func otherBody() async throws {
        _ = try await pipeline.submit(one, key: "k")
        let (page, position) = (pipeline.page, pipeline.ledger.position)
        #expect(try await pipeline.submit(other, key: "k") == .keyReused)
        #expect(try await pipeline.submit(other, key: "k") == .keyReused)
        #expect(pipeline.ledger.position == position)
        #expect(pipeline.page.difference(from: page) == [])
        #expect(try await pipeline.submit(other) == .counted(accepted: 1, duplicates: 0))
    }

    @Test("an Idempotency-Key with another body is refused as often as it comes within one group")
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

    @Test("an Idempotency-Key is known within the group it first comes in")
    func idempotencyKeyWithinGroup() async throws {
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

    @Test("an Idempotency-Key does not hide that its events came before without it")
    func eventsKnown() async throws {
        _ = try await pipeline.submit([one[0]])
        #expect(try await pipeline.submit(one, key: "k") == .counted(accepted: 1, duplicates: 1))
        #expect(try await pipeline.submit(one, key: "l") == .counted(accepted: 0, duplicates: 2))
    }

    @Test("an Idempotency-Key of a body in which nothing can be read is remembered like any other")
    func unreadableBody() async throws {
        #expect(try await pipeline.submit(["7"], key: "k") == .counted(accepted: 0, duplicates: 0))
        #expect(try await pipeline.submit(other, key: "k") == .keyReused)
    }

    @Test("an Idempotency-Key takes nothing from a submission without one")
    func none() async throws {
        #expect(try await pipeline.submit(one) == .counted(accepted: 2, duplicates: 0))
        #expect(try await pipeline.submit([]) == .counted(accepted: 0, duplicates: 0))
        #expect(pipeline.ledger.position.batch == 1)
    }
}

@Suite("The answer to events")
struct IngestAnswerTests {
    @Test("the ingest answer tells how many were accepted and were known")
    func counts() async throws {
        let response = IngestAnswer.response(accepted: 12, duplicates: 3, EventText.decode([EventText.scheduled("a")]))
        #expect(response.status.code == 200)
        #expect(response.headers[.contentType] == "application/json")
        let object = try await ResponseBytes(response).object()
        #expect(Set(object.keys) == ["accepted", "duplicates", "rejected"])
        #expect(object["accepted"] as? Int == 12)
        #expect(object["duplicates"] as? Int == 3)
        #expect((object["rejected"] as? [Any])?.isEmpty == true)
    }

    @Test("the ingest answer names each refused event with its index and a reason in words")
    func rejections() async throws {
        let decoded = EventText.decode([
            EventText.scheduled("a"), "7", EventText.scheduled("b"), #"{"event":"prefetch_lost"}"#,
            EventText.event("prefetch_failure", id: "c", #""duration_ms":-1"#), "{\"\"",
        ])
        let object = try await ResponseBytes(IngestAnswer.response(accepted: 2, duplicates: 0, decoded)).object()
        let rejected = try #require(object["rejected"] as? [[String: Any]])
        #expect(rejected.compactMap { $0["index"] as? Int } == [1, 3, 4, 5])
        #expect(rejected.compactMap { $0["reason"] as? String } == decoded.rejections.map(\.description))
        #expect(rejected.allSatisfy { Set($0.keys) == ["index", "reason"] })
        #expect(object["rejectedOmitted"] == nil)
    }

    @Test("the ingest answer says how many more were refused than it names")
    func ingestAnswerOmitted() async throws {
        let count = JSONLimits.namedRejections + 17
        let decoded = EventText.decode(["[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"])
        let object = try await ResponseBytes(IngestAnswer.response(accepted: 0, duplicates: 0, decoded)).object()
        #expect((object["rejected"] as? [Any])?.count == JSONLimits.namedRejections)
        #expect(object["rejectedOmitted"] as? Int == 17)
    }
}
