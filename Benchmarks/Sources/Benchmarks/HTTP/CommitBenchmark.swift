// SPDX-License-Identifier: Apache-2.0

/// Batches of 1,000 events over HTTP to the real service, each answered once it is committed; client and service on the
/// same cores.
enum CommitBenchmark: Benchmark {
    static let name = "http"
    private static let runs = 5
    private static let connections = 4

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        var (process, power) = ([LoadClient.Result](), [LoadClient.Result]())
        var decoder = try DecodeBenchmark.foundation(room.cycles)
        for _ in 0..<runs {
            process.append(try load(room, "process"))
            power.append(try load(room, "power"))
        }
        // Before and after, as the machine may have changed its pace meanwhile.
        decoder += try DecodeBenchmark.foundation(room.cycles)
        return [
            row(process, "process", .atLeast(4.5), Row.Peer("Foundation JSONDecoder alone", decoder)),
            row(power, "power", .atLeast(0.9), Row.Peer("process", process.map(speed))),
        ]
    }

    private static func row(
        _ results: [LoadClient.Result],
        _ durability: String,
        _ target: Target,
        _ peer: Row.Peer
    ) -> Row {
        Row(
            "HTTP batches of 1,000, committed, \(connections) connections, durability \(durability)",
            "events/s",
            results.map(speed),
            target: target,
            peer: peer,
            targetIsRatio: true,
            note: cpu(results)
        )
    }

    private static func speed(_ result: LoadClient.Result) -> Double { Double(result.events) / result.seconds }

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
