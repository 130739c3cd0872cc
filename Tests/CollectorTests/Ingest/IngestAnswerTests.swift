// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import HTTPTypes
import HummingbirdCore
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("The answer to events")
struct IngestAnswerTests {
    @Test("tells how many were accepted and were known")
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

    @Test("names each refused event with its index and a reason in words")
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

    @Test("says how many more were refused than it names")
    func omitted() async throws {
        let count = JSONLimits.namedRejections + 17
        let decoded = EventText.decode(["[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"])
        let object = try await ResponseBytes(IngestAnswer.response(accepted: 0, duplicates: 0, decoded)).object()
        #expect((object["rejected"] as? [Any])?.count == JSONLimits.namedRejections)
        #expect(object["rejectedOmitted"] as? Int == 17)
    }
}
