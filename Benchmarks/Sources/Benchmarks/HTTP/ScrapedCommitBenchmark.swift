// SPDX-License-Identifier: Apache-2.0

/// Batches of 1,000 events over HTTP at full speed while 64 connections scrape as fast as they can; clients and service on
/// the same cores.
enum ScrapedCommitBenchmark: Benchmark {
    static let name = "scraped-http"
    private static let runs = 3
    private static let scrapers = 64

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        var loads: [LoadClient.Result] = []
        var scrapes: [Scrapers.Result] = []
        for _ in 0..<runs {
            let service = try ServiceProcess(in: room, ServiceProcess.Settings())
            try service.start()
            let scrapers = try Scrapers(scrapers, asking: service)
            let load = try LoadClient(connections: 4).send(room.cycles, to: service)
            scrapes.append(try scrapers.stop())
            loads.append(load)
        }
        let speeds = loads.map { Double($0.events) / $0.seconds }
        let pages = zip(scrapes, loads).map { Double($0.pages) / $1.seconds }
        let latencies = scrapes.flatMap(\.latencies).map { $0 * 1e3 }
        return [
            Row("HTTP batches of 1,000, committed, beside \(scrapers) scrapers without a pause", "events/s", speeds),
            Row(
                "their pages meanwhile",
                "pages/s",
                pages,
                note: "gzip, \(scrapes.reduce(0) { $0 + $1.bytes } / max(1, scrapes.reduce(0) { $0 + $1.pages })) bytes"
            ),
            Row("their pages: latency, median", "ms", [latencies.median]),
            Row("their pages: latency, 99 of 100 below", "ms", [latencies.percentile(0.99)]),
        ]
    }
}
