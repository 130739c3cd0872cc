// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What destinations of exports cost ingest and memory, and how fast they get what is behind them.
enum ExportBenchmark: Benchmark {
    static let name = "export"
    private static let runs = 5
    private static let connections = 4

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        try besideIngest(room) + afterAnOutage(room)
    }

    private static func destination(_ name: String, _ port: UInt16, compression: String = "gzip") -> [String] {
        ["--export", "otlp http://127.0.0.1:\(port) name=\(name) only=logs compression=\(compression)"]
    }

    /// Ingest with two destinations and without any, by turns.
    private static func besideIngest(_ room: BenchmarkRoom) throws -> [Row] {
        let receivers = try (0..<2).map { _ in try SinkReceiver(port: LoopbackSocket.freePort()) }
        defer { receivers.forEach { $0.close() } }
        var (alone, beside) = ([Double](), [Double]())
        for _ in 0..<runs {
            alone.append(try ingest(room, []))
            beside.append(
                try ingest(room, destination("one", receivers[0].port) + destination("two", receivers[1].port))
            )
        }
        return [
            Row(
                "HTTP batches of 1,000, committed, beside two destinations of all events",
                "events/s",
                beside,
                target: .atLeast(0.95),
                peer: Row.Peer("without them", alone),
                targetIsRatio: true
            )
        ]
    }

    private static func ingest(_ room: BenchmarkRoom, _ options: [String]) throws -> Double {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings(options: options))
        try service.start()
        let result = try LoadClient(connections: connections).send(room.cycles, to: service)
        return Double(result.events) / result.seconds
    }

    /// A receiver that comes when 1,000,000 events wait for it.
    private static func afterAnOutage(_ room: BenchmarkRoom) throws -> [Row] {
        var speeds: [String: [Double]] = [:]
        var (memory, withoutAny) = ([Double](), [Double]())
        for _ in 0..<2 {
            withoutAny.append(try memoryAfterIngest(room, [], nil).resident)
            for compression in ["none", "gzip"] {
                let port = try LoopbackSocket.freePort()
                let options = destination("late", port, compression: compression)
                let outcome = try memoryAfterIngest(room, options, port)
                memory.append(outcome.resident)
                speeds[compression, default: []].append(outcome.recordsPerSecond)
            }
        }
        return [
            Row(
                "resident after 1,000,000 events beside a dead destination",
                "MB",
                memory,
                peer: Row.Peer("without one", withoutAny)
            ),
            Row(
                "log records to a receiver on this machine",
                "records/s",
                speeds["none"] ?? [],
                target: .atLeast(200_000)
            ),
            Row("the same with gzip", "records/s", speeds["gzip"] ?? []),
        ]
    }

    private static func memoryAfterIngest(
        _ room: BenchmarkRoom,
        _ options: [String],
        _ port: UInt16?
    ) throws -> (resident: Double, recordsPerSecond: Double) {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings(options: options))
        try service.start()
        _ = try LoadClient(connections: connections).send(room.cycles, to: service)
        let resident = try service.memory.resident
        guard let port else { return (resident, 0) }
        let lag = "dnp_telemetry_export_lag_events{destination=\"late\"}"
        let waiting = try service.metric(lag)
        let receiver = try SinkReceiver(port: port)
        defer { receiver.close() }
        // The next attempt comes within half a minute.
        try Deadline(seconds: 60).wait(for: "the first request") { receiver.bytes > 0 }
        let watch = Stopwatch()
        try Deadline(seconds: 120).wait(for: "the destination to have all", every: 20_000) {
            try service.metric(lag) == 0
        }
        return (resident, waiting / watch.seconds)
    }
}
