// SPDX-License-Identifier: Apache-2.0

/// `GET /metrics` of a service that has counted 1,000,000 events, over one kept-alive connection.
enum ScrapeBenchmark: Benchmark {
    static let name = "scrape"
    private static let scrapes = 2_000

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings())
        try service.start()
        _ = try LoadClient(connections: 4).send(room.cycles, to: service)
        let connection = try service.connect()
        let request = PreparedRequest(get: "/metrics")
        var latencies: [Double] = []
        var cpu: [Double] = []
        var bytes = 0
        for _ in 0..<5 {
            let clock = try service.cpuClock
            let before = clock.seconds
            for _ in 0..<scrapes / 5 {
                let watch = Stopwatch()
                bytes = try connection.exchange(request).body.count
                latencies.append(watch.seconds * 1e6)
            }
            cpu.append((clock.seconds - before) / Double(scrapes / 5) * 1e6)
        }
        return [
            Row("GET /metrics, \(bytes) bytes: latency, median", "us", [latencies.median]),
            Row("GET /metrics: latency, 99 of 100 below", "us", [latencies.percentile(0.99)]),
            Row("GET /metrics: CPU time of the service", "us", cpu),
        ]
    }
}
