// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("64 scrapers during ingest")
    struct ConcurrentScrapes {
        private static let scrapers = 64
        private static let batches = 60

        private static let stages = ["scheduled", "executed", "success", "failure", "used_for_notification"]
            .map { "dnp_prefetch_\($0)_total" }
        private static let accounts = ["received", "accepted", "duplicate", "rejected"]
            .map { "dnp_telemetry_events_\($0)_total" }
        private static let path =
            "/metrics?"
            + (stages + accounts + ["dnp_telemetry_ledger_sequence"]).map { "name%5B%5D=\($0)" }
            .joined(separator: "&")

        /// What one scraper saw.
        private struct Seen: Sendable {
            var pages = 0
            var bytes = 0
            var positions = Set<Double>()
            var slowest = Duration.zero
            var torn: [String] = []
        }

        @Test("see no torn page in any format, and hold up neither ingest nor one another")
        func noTornPage() async throws {
            try await withService { service in
                let client = await service.client
                let stop = StopSignal()
                let bodies = (0..<Self.batches).map { EventFactory(prefix: "torn-\($0)").cycles(0..<100) }
                let start = ContinuousClock.now
                async let scraped = withThrowingTaskGroup(of: Seen.self) { group in
                    for number in 0..<Self.scrapers {
                        group.addTask { try await Self.scrape(client, number, until: stop) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                var posted = 0
                for body in bodies {
                    posted += try await client.post(body.ndjson).receipt().accepted
                    // Sent again, so that duplicates move too; and one that is refused.
                    if posted % 5 == 0 { _ = try await client.post(body.ndjson).receipt() }
                    _ = try await client.post(Array("{\"event\":\"no\"}\n".utf8))
                }
                let ingested = ContinuousClock.now - start
                stop.set()
                let seen = try await scraped
                let took = ContinuousClock.now - start
                #expect(seen.flatMap(\.torn).prefix(5) == [])
                #expect(seen.allSatisfy { $0.pages >= AcceptHeader.formats.count })
                let positions = seen.reduce(into: Set<Double>()) { $0.formUnion($1.positions) }
                #expect(positions.count > 10, "pages of many positions were seen")
                let pages = seen.reduce(0) { $0 + $1.pages }
                let slowest = seen.map(\.slowest).max() ?? .zero
                let bytes = seen.reduce(0) { $0 + $1.bytes }
                print(
                    """
                    64 scrapers: \(pages) pages in \(took) (\(bytes / pages) bytes each as sent), slowest \(slowest), of \
                    \(positions.count) positions; beside them \(posted) events in \(ingested), \
                    \(Int(Double(posted) / (ingested / .seconds(1)))) events/s
                    """
                )
            }
        }

        private static func scrape(
            _ client: TelemetryClient,
            _ number: Int,
            until stop: StopSignal
        ) async throws -> Seen {
            var seen = Seen()
            var last = 0.0
            while !stop.isSet || seen.pages < AcceptHeader.formats.count {
                let format = AcceptHeader.formats[(number + seen.pages) % AcceptHeader.formats.count]
                let start = ContinuousClock.now
                // A whole page now and then: reading one takes this process longer than the service takes to write it.
                let isWhole = seen.pages.isMultiple(of: 16)
                let answer = try await client.scrape(format.headers, path: isWhole ? "/metrics" : path)
                seen.slowest = max(seen.slowest, ContinuousClock.now - start)
                let sums = FamilySums(answer)
                let position = sums["dnp_telemetry_ledger_sequence"]
                if let complaint = complaint(about: sums, format, answer) { seen.torn.append(complaint) }
                if position < last { seen.torn.append("position \(last), then \(position)") }
                last = position
                seen.positions.insert(position)
                seen.pages += 1
                seen.bytes += answer.body.count
            }
            return seen
        }

        /// What does not add up on a page.
        private static func complaint(about sums: FamilySums, _ format: AcceptHeader, _ answer: Answer) -> String? {
            guard answer.status == 200, answer.headers["content-type"] == format.contentType else {
                return "\(format): HTTP \(answer.status), \(answer.headers["content-type"] ?? "no type")"
            }
            let received = sums["dnp_telemetry_events_received_total"]
            let accepted = sums["dnp_telemetry_events_accepted_total"]
            let duplicates = sums["dnp_telemetry_events_duplicate_total"]
            let rejected = sums["dnp_telemetry_events_rejected_total"]
            let position = sums["dnp_telemetry_ledger_sequence"]
            let stages = Self.stages.reduce(0) { $0 + sums[$1] }
            guard received == accepted + duplicates + rejected, accepted == position, stages == accepted else {
                return """
                    \(format): received \(received), accepted \(accepted), duplicates \(duplicates), rejected \(rejected), \
                    position \(position), stages \(stages)
                    """
            }
            return nil
        }
    }
}
