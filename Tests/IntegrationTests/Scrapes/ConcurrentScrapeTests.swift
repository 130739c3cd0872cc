// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

extension Alone {
    @Suite("64 scrapers during ingest")
    struct ConcurrentScrapeTests {
        private static let scrapers = 64
        private static let posters = 4
        private static let bodiesOfPoster = 12

        private static let stages = ["scheduled", "executed", "success", "failure", "used_for_notification"]
            .map { "dnp_prefetch_\($0)_total" }
        private static let accounts =
            ["received", "accepted", "duplicate", "rejected"]
            .map { "dnp_telemetry_events_\($0)_total" } + ["dnp_telemetry_accepted_effects_total"]
        private static let durations = "dnp_prefetch_fetch_duration_seconds"
        private static let path =
            "/metrics?"
            + (stages + accounts + [durations, "dnp_telemetry_ledger_sequence"]).map { "name%5B%5D=\($0)" }
            .joined(separator: "&")

        /// The requests of one scraper.
        private struct Kind {
            let format: AcceptHeader
            let isCompressed: Bool
            let isWhole: Bool

            /// Scraper and page together go through all there are; every fourth page is a whole one.
            init(scraper: Int, page: Int) {
                format = AcceptHeader.formats[(scraper + page) % AcceptHeader.formats.count]
                isCompressed = (scraper / AcceptHeader.formats.count).isMultiple(of: 2)
                isWhole = page.isMultiple(of: 4)
            }

            var headers: [(String, String)] {
                format.headers + [("Accept-Encoding", isCompressed ? "gzip" : "identity")]
            }
        }

        /// What one scraper saw.
        private struct Seen: Sendable {
            var pages = 0
            var whole = 0
            var compressed = 0
            var bytes = 0
            var positions = Set<Double>()
            var slowest = Duration.zero
            var torn: [String] = []
        }

        @Test(
            "64 scrapers see no torn page in any format, and block neither ingest nor each other",
            .timeLimit(.minutes(4))
        )
        func concurrentScrapes() async throws {
            try await withService { service in
                let client = await service.client
                let stop = StopSignal()
                let bodies = (0..<Self.posters).map { poster in
                    (0..<Self.bodiesOfPoster).map { Self.thousandEvents("torn-\(poster)-\($0)") }
                }
                let start = ContinuousClock.now
                async let scraped = withThrowingTaskGroup(of: Seen.self) { group in
                    for number in 0..<Self.scrapers {
                        group.addTask { try await Self.scrape(client, number, until: stop) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let ingested: (posted: Int, took: Duration)
                do {
                    ingested = try await Self.post(client, bodies)
                } catch {
                    stop.set()
                    throw error
                }
                stop.set()
                let seen = try await scraped
                let took = ContinuousClock.now - start
                #expect(ingested.posted == Self.posters * Self.bodiesOfPoster * 1_000)
                #expect(seen.flatMap(\.torn).prefix(5) == [])
                #expect(seen.allSatisfy { $0.pages >= AcceptHeader.formats.count })
                #expect(seen.filter { $0.compressed == $0.pages }.count == Self.scrapers / 2)
                #expect(seen.reduce(into: Set<Double>()) { $0.formUnion($1.positions) }.count > 10)
                Self.report(seen, in: took, ingested)
            }
        }

        /// The events of 263 cycles.
        private static func thousandEvents(_ prefix: String) -> [UInt8] {
            EventFactory(prefix: prefix).cycles(0..<263).ndjson
        }

        private static func report(_ seen: [Seen], in took: Duration, _ ingested: (posted: Int, took: Duration)) {
            let pages = seen.reduce(0) { $0 + $1.pages }
            let bytes = seen.reduce(0) { $0 + $1.bytes }
            let positions = seen.reduce(into: Set<Double>()) { $0.formUnion($1.positions) }
            print(
                """
                64 scrapers: \(pages) pages in \(took), \(Int(Double(pages) / (took / .seconds(1))))/s, \
                \(seen.reduce(0) { $0 + $1.whole }) of them whole, \(seen.reduce(0) { $0 + $1.compressed }) compressed, \
                \(bytes / pages) bytes each as sent, slowest \(seen.map(\.slowest).max() ?? .zero), \
                of \(positions.count) positions; beside them \(ingested.posted) events in \(ingested.took), \
                \(Int(Double(ingested.posted) / (ingested.took / .seconds(1)))) events/s
                """
            )
        }

        /// Posts all bodies, those of each poster one after the other without a pause.
        private static func post(
            _ client: TelemetryClient,
            _ bodies: [[[UInt8]]]
        ) async throws -> (posted: Int, took: Duration) {
            let start = ContinuousClock.now
            let posted = try await withThrowingTaskGroup(of: Int.self) { group in
                for bodies in bodies {
                    group.addTask {
                        var posted = 0
                        for (index, body) in bodies.enumerated() {
                            posted += try await client.post(body).receipt().accepted
                            // Sent again, so that duplicates move too; and one that is refused.
                            if index.isMultiple(of: 5) { _ = try await client.post(body).receipt() }
                            _ = try await client.post(Array("{\"event\":\"no\"}\n".utf8))
                        }
                        return posted
                    }
                }
                return try await group.reduce(0, +)
            }
            return (posted, ContinuousClock.now - start)
        }

        private static func scrape(
            _ client: TelemetryClient,
            _ number: Int,
            until stop: StopSignal
        ) async throws -> Seen {
            var seen = Seen()
            var last = 0.0
            while !stop.isSet || seen.pages < AcceptHeader.formats.count {
                let kind = Kind(scraper: number, page: seen.pages)
                let start = ContinuousClock.now
                let answer = try await client.scrape(
                    kind.headers,
                    path: kind.isWhole ? "/metrics" : path,
                    unpacks: true
                )
                seen.slowest = max(seen.slowest, ContinuousClock.now - start)
                let sums = FamilySums(answer)
                let position = sums["dnp_telemetry_ledger_sequence"]
                if let complaint = complaint(about: sums, kind, answer) { seen.torn.append(complaint) }
                if position < last { seen.torn.append("position \(last), then \(position)") }
                last = position
                seen.positions.insert(position)
                seen.pages += 1
                if kind.isWhole { seen.whole += 1 }
                if answer.headers["content-encoding"] == "gzip" { seen.compressed += 1 }
                seen.bytes += Int(answer.headers["content-length"] ?? "") ?? 0
            }
            return seen
        }

        /// The inconsistency of a page.
        private static func complaint(about sums: FamilySums, _ kind: Kind, _ answer: Answer) -> String? {
            guard answer.status == 200, answer.headers["content-type"] == kind.format.contentType else {
                return "\(kind): HTTP \(answer.status), \(answer.headers["content-type"] ?? "no type")"
            }
            let received = sums["dnp_telemetry_events_received_total"]
            let accepted = sums["dnp_telemetry_events_accepted_total"]
            let duplicates = sums["dnp_telemetry_events_duplicate_total"]
            let rejected = sums["dnp_telemetry_events_rejected_total"]
            let position = sums["dnp_telemetry_ledger_sequence"]
            let stages = Self.stages.reduce(0) { $0 + sums[$1] }
            // Each success tells how long its fetch took, and no other event does.
            let timed = sums["\(durations)_count"]
            let successes = sums["dnp_prefetch_success_total"]
            let effects = sums["dnp_telemetry_accepted_effects_total"]
            guard received == accepted + duplicates + rejected, accepted == position, stages == accepted,
                timed == successes, effects == accepted
            else {
                return """
                    \(kind): received \(received), accepted \(accepted), duplicates \(duplicates), rejected \(rejected), \
                    position \(position), stages \(stages), successes \(successes), timed \(timed)
                    """
            }
            let histograms = sums.histograms
            guard histograms.count >= (kind.isWhole ? 8 : 1) else { return "\(kind): \(histograms.count) histograms" }
            return histograms.first { $0.count != $0.unbounded }.map { "\(kind): \($0)" }
        }
    }
}
