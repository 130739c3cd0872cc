// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("dry runs")
struct DryRunTests {
    private static let event =
        #"{"event":"prefetch_scheduled","scheduleId":"dry-1","timestamp":"2025-11-15T05:48:32Z"}"#
    /// An event, the same again, one with two unknown fields, and one of an unknown kind.
    private static let body = """
        \(event)
        \(event)
        {"event":"prefetch_executed","scheduleid":"dry-2","scheduleId":"dry-2","timestamp":"2025-11-15T05:49:32Z","x":1}
        {"event":"prefetch_sucess","scheduleId":"dry-2","timestamp":"2025-11-15T05:50:32Z"}

        """

    private func post(
        _ body: String,
        _ query: String,
        key: String? = nil,
        token: String? = "dry-0123456789abcdef",
        to service: Service
    ) async throws -> (status: Int, object: [String: Any]) {
        var headers: HTTPHeaders = [:]
        if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
        let answer = try await service.client.post(
            Array(body.utf8),
            key: key,
            headers: headers,
            to: "/v1/events\(query)"
        )
        let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        return (answer.status, try #require(object))
    }

    private func sequence(_ service: Service) async throws -> Double? {
        try await service.client.metric("dnp_telemetry_ledger_sequence")
    }

    @Test("a post with ?dry-run gets the answer of the post, under the same token, and nothing is stored or counted")
    func dryRun() async throws {
        try await withTemporaryDirectory { directory in
            try Files.write(Array("dry-0123456789abcdef".utf8), to: "\(directory)/token-dry")
            try await withService(options: ["--credentials-dir", directory]) { service in
                let before = try await sequence(service)
                var dry = try await post(Self.body, "?dry-run", key: "k", to: service)
                #expect(dry.object.removeValue(forKey: "dryRun") as? Bool == true)
                #expect(try await post(Self.body, "?dry-run", token: nil, to: service).status == 401)
                #expect(try await post(Self.body, "?dry-run=1", token: "another-token-0123", to: service).status == 401)
                for query in ["?dryrun", "?dry_run=true", "?dry-run=perhaps", "?x&Dry-Run"] {
                    let answer = try await post(Self.body, query, to: service)
                    #expect(answer.status == 400, "\(query)")
                }
                let broken = try await post("{}", "?dry-run=true", to: service)
                #expect(broken.status == 400 && broken.object["dryRun"] as? Bool == true)
                #expect(try await sequence(service) == before)
                var page = try await service.client.metrics()
                #expect(page.sum("dnp_telemetry_events_received_total") == 0)
                #expect(page.value("dnp_telemetry_token_events_total", ["token": "dry"]) ?? 0 == 0)
                #expect(page.value("dnp_prefetch_scheduled_total") == 0)

                let stored = try await post(Self.body, "?dry-run=false", key: "k", to: service)
                #expect(stored.status == 200 && dry.status == 200)
                #expect(NSDictionary(dictionary: stored.object) == NSDictionary(dictionary: dry.object))
                #expect(stored.object["accepted"] as? Int == 2 && stored.object["duplicates"] as? Int == 1)
                let rejected = try #require((stored.object["rejected"] as? [[String: Any]])?.first)
                #expect(
                    rejected["reason"] as? String
                        == #"event: not one of the known kinds; did you mean "prefetch_success"?"#
                )
                let unknown = try #require(stored.object["unknownFields"] as? [String: Any])
                #expect(unknown["count"] as? Int == 2 && unknown["resemble"] as? [String: Int] == ["scheduleId": 1])

                let again = try await post(Self.body, "?dry-run", to: service)
                #expect(again.object["accepted"] as? Int == 0 && again.object["duplicates"] as? Int == 3)
                #expect(try await post(Self.body, "?dry-run", key: "k", to: service).object["duplicates"] as? Int == 3)
                let reused = try await post(Self.event, "?dry-run", key: "k", to: service)
                #expect(reused.status == 422 && reused.object["dryRun"] as? Bool == true)
                page = try await service.client.metrics()
                #expect(page.value("dnp_prefetch_scheduled_total") == 1)
                #expect(page.sum("dnp_telemetry_events_received_total") == 4)
                #expect(page.value("dnp_telemetry_token_events_total", ["token": "dry"]) == 4)
            }
        }
    }
}
