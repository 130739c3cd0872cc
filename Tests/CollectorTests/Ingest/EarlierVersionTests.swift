// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import LedgerState
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("Events that an earlier version accepted")
struct EarlierVersionTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Lines of a source that is a device of its own, with what an earlier version made of them.
    private func ofSource(_ lines: [String]) -> IngestSubmission {
        let decoded = JSONEventDecoder.decode(
            Array(lines.joined(separator: "\n").utf8).span,
            framing: .lines,
            receivedAt: Timestamp(microseconds: startOfTest),
            pseudonyms: FixedPseudonym(),
            identityKey: EventText.identityKey,
            installation: Pseudonym(high: 0, low: 7)
        )
        return .events(decoded, origin: EventOrigin(.http, .ndjson), batch: nil, earlier: EventText.decode(lines))
    }

    /// A pipeline that goes on with events, as if an earlier version had accepted them.
    private func upgraded(after lines: [String], isUpgrade: Bool = true) async throws -> Pipeline {
        let pipeline = try Pipeline(in: directory)
        _ = try await pipeline.submit(lines)
        try await pipeline.close()
        if isUpgrade { try directory.makeCheckpointContinueEarlierOne() }
        return try Pipeline(in: directory)
    }

    @Test("events that came without an installation are duplicates as those of a source, after an upgrade alone")
    func eventsOfSource() async throws {
        let known = [
            EventText.scheduled("a"), EventText.event("prefetch_failure", id: "a", second: 1, #""reason":"AUTH""#),
            EventText.scheduled("someone@example.org"),
        ]
        let new = EventText.scheduled("b")
        let pipeline = try await upgraded(after: known)
        let first = Counted(try await pipeline.writer.submit(ofSource(known + [new])))
        #expect(first == .counted(accepted: 1, duplicates: 3))
        let again = Counted(try await pipeline.writer.submit(ofSource(known + [new])))
        #expect(again == .counted(accepted: 0, duplicates: 4))
        #expect(pipeline.page.scheduled == 3)
        try await pipeline.close()
    }

    @Test("without an upgrade the same event of two sources counts twice")
    func eventsOfTwoSources() async throws {
        let known = [EventText.scheduled("a")]
        let pipeline = try await upgraded(after: known, isUpgrade: false)
        let other = Counted(try await pipeline.writer.submit(ofSource(known)))
        #expect(other == .counted(accepted: 1, duplicates: 0))
        try await pipeline.close()
    }

    @Test("an id that an earlier version had replaced names its events and their cycle")
    func replacedIds() async throws {
        // What that version stored and hashed in the place of the id.
        let pseudonym = "redacted-h0000000000000001"
        let pipeline = try await upgraded(after: [EventText.scheduled(pseudonym)])
        #expect(
            try await pipeline.submit([EventText.scheduled("someone@example.org")])
                == .counted(accepted: 0, duplicates: 1)
        )
        let executed = EventText.event("prefetch_executed", id: "someone@example.org", second: 9)
        #expect(try await pipeline.submit([executed]) == .counted(accepted: 1, duplicates: 0))
        #expect(pipeline.page["dnp_prefetch_open_cycles"] == 1)
        try await pipeline.close()

        let reopened = try Pipeline(in: directory)
        #expect(reopened.page["dnp_prefetch_open_cycles"] == 1)
        #expect(try await reopened.submit([executed]) == .counted(accepted: 0, duplicates: 1))
        try await reopened.close()
    }
}
