// SPDX-License-Identifier: Apache-2.0

/// Batches of 1,000 events over HTTP to the real service, each answered once it is committed; client and service on the
/// same cores.
enum CommitBenchmark: Benchmark {
    static let name = "http"
    private static let runs = 5
    private static let connections = 4

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let durabilities = ["process", "power"]
        var results: [String: [LoadClient.Result]] = [:]
        for _ in 0..<runs {
            for durability in durabilities { results[durability, default: []].append(try load(room, durability)) }
        }
        return durabilities.map { durability in
            let results = results[durability] ?? []
            return Row(
                "HTTP batches of 1,000, committed, \(connections) connections, durability \(durability)",
                "events/s",
                results.map { Double($0.events) / $0.seconds },
                target: .atLeast(1_000_000),
                note: cpu(results)
            )
        }
    }

    private static func load(_ room: BenchmarkRoom, _ durability: String) throws -> LoadClient.Result {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings(durability: durability))
        try service.start()
        let result = try LoadClient(connections: connections).send(room.cycles, to: service)
        guard try Int(service.metric("dnp_telemetry_events_accepted_total")) == result.events else {
            throw BenchmarkFailure("the service did not count all events")
        }
        return result
    }

    private static func cpu(_ results: [LoadClient.Result]) -> String {
        let service = results.map { $0.serviceCPU / Double($0.events) * 1e9 }.median
        let client = results.map { $0.clientCPU / Double($0.events) * 1e9 }.median
        return "CPU: service \(Int(service)) ns/event, client \(Int(client)) ns/event"
    }
}
