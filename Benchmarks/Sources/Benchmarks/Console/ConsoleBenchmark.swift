// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// The console with more closed cycles behind it than its index keeps: how soon it answers, what its index keeps in memory,
/// and what ten open consoles take from ingest.
enum ConsoleBenchmark: Benchmark {
    static let name = "console"
    /// Five times what the index keeps.
    private static let closedCycles = 500_000
    /// A cycle stays open for 15 minutes after its last event, and so many may be open.
    private static let openCycles = 2_000_000
    private static let eventsPerLoad = 1_000_000
    private static let runs = 5
    private static let memoryRuns = 2
    private static let consoles = 10
    private static let answersPerFilter = 20

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        try history(of: closedCycles, room) + besideConsoles(room)
    }

    // MARK: What it answers

    fileprivate static func history(of closedCycles: Int, _ room: BenchmarkRoom) throws -> [Row] {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings())
        try service.start()
        try fill(service, closedCycles)
        let filters = try Filters(of: service, behind: closedCycles)
        let atRest = try answers(filters, service)
        let busy = try answersBesideIngest(filters, service)
        return rows(atRest, ", \(closedCycles) closed") + rows(busy, " beside full ingest")
            + (try memory(of: service, filters))
    }

    /// Posts so many cycles that all but the most that may be open are closed to make room for the next ones.
    private static func fill(_ service: ServiceProcess, _ closedCycles: Int) throws {
        let client = LoadClient(connections: 4)
        let load = eventsPerLoad / EventLines.eventsOfClosedCycle
        var first = 0
        while first < closedCycles + openCycles {
            let count = min(load, closedCycles + openCycles - first)
            let lines = EventLines(
                count: count * EventLines.eventsOfClosedCycle,
                kind: .closedCycles,
                firstCycle: first
            )
            _ = try client.send(lines.requests(eventsPerRequest: 1_000), to: service)
            first += count
        }
    }

    /// The seconds of each answer, by what was asked.
    private struct Answers {
        var firstPage: [Double] = []
        var filters: [(name: String, seconds: [Double])] = []
    }

    private static func answers(_ filters: Filters, _ service: ServiceProcess) throws -> Answers {
        let connection = try service.connect()
        func ask(_ query: String) throws -> [Double] {
            let request = PreparedRequest(get: "/api/v1/cycles?\(query)")
            return try (0..<answersPerFilter).map { _ in
                let watch = Stopwatch()
                let answer = try connection.exchange(request)
                guard answer.status == 200 else { throw BenchmarkFailure("\(query): \(answer.text.prefix(200))") }
                return watch.seconds
            }
        }
        var found = Answers(firstPage: try ask("limit=50"))
        for (name, query) in filters.queries { found.filters.append((name, try ask(query))) }
        return found
    }

    private static func answersBesideIngest(_ filters: Filters, _ service: ServiceProcess) throws -> Answers {
        let lines = EventLines(count: 3 * eventsPerLoad, kind: .wholeCycles)
        let load = BackgroundLoad(lines.requests(eventsPerRequest: 1_000), to: service)
        let found = try answers(filters, service)
        guard load.isRunning else { throw BenchmarkFailure("the load ended before the console had answered") }
        try load.wait()
        return found
    }

    private static func rows(_ answers: Answers, _ beside: String) -> [Row] {
        let slowest = answers.filters.max { $0.seconds.median < $1.seconds.median }
        let all = answers.filters.flatMap(\.seconds)
        return [
            Row(
                "first page of cycles\(beside)",
                "ms",
                answers.firstPage.map { $0 * 1e3 },
                target: .atMost(50)
            ),
            Row(
                "slowest of \(answers.filters.count) filters\(beside)",
                "ms",
                (slowest?.seconds ?? []).map { $0 * 1e3 },
                target: .atMost(50),
                note: "by \(slowest?.name ?? "none"); the longest of all answers "
                    + "\(Int(((all.max() ?? 0) * 1e3).rounded())) ms"
            ),
        ]
    }

    // MARK: What it keeps

    /// The service started anew on the same ledger with the console, and without it.
    private static func memory(of service: ServiceProcess, _ filters: Filters) throws -> [Row] {
        var with: [ProcessMemory] = []
        var without: [ProcessMemory] = []
        for _ in 0..<memoryRuns {
            try service.stop()
            try service.start()
            _ = try answers(filters, service)
            with.append(try service.memory)
            try service.stop()
            try service.start(options: ["--no-console"])
            without.append(try service.memory)
        }
        let difference = zip(with, without).map { $0.resident - $1.resident }
        let anonymous = zip(with, without).map { $0.anonymous - $1.anonymous }
        return [
            Row(
                "the console's memory with its index full, after all of these answers",
                "MB",
                difference,
                target: .atMost(8),
                note: "anonymous \(Figure.text(anonymous.median)) MB; "
                    + "without a console and with \(openCycles) open cycles \(Figure.text(without[0].resident)) MB"
            )
        ]
    }

    // MARK: What it takes from ingest

    private static func besideConsoles(_ room: BenchmarkRoom) throws -> [Row] {
        var alone: [Double] = []
        var beside: [Double] = []
        var without: [Double] = []
        var answers = 0
        for _ in 0..<runs {
            alone.append(try speed(room))
            without.append(try speed(room, options: ["--no-console"]))
            let service = try ServiceProcess(in: room, ServiceProcess.Settings())
            try service.start()
            let open = try OpenConsoles(consoles, on: service)
            beside.append(try speed(room, service))
            answers += try open.close()
        }
        return [
            Row(
                "HTTP batches of 1,000, committed, beside \(consoles) open consoles",
                "events/s",
                beside,
                target: .atLeast(0.95),
                peer: Row.Peer("no console open", alone),
                targetIsRatio: true,
                note: "a live stream each, and \(answers / runs) other answers a run"
            ),
            Row(
                "HTTP batches of 1,000, committed, index kept, no console open",
                "events/s",
                alone,
                peer: Row.Peer("--no-console", without),
                targetIsRatio: true
            ),
        ]
    }

    private static func speed(_ room: BenchmarkRoom, options: [String] = []) throws -> Double {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings(options: options))
        try service.start()
        return try speed(room, service)
    }

    private static func speed(_ room: BenchmarkRoom, _ service: ServiceProcess) throws -> Double {
        let load = try LoadClient(connections: 4).send(room.cycles, to: service)
        return Double(load.events) / load.seconds
    }
}

/// The same answers and memory with 10,000,000 closed cycles behind the console.
enum LongHistoryBenchmark: Benchmark {
    static let name = "console-history"

    static func run(in room: BenchmarkRoom) throws -> [Row] { try ConsoleBenchmark.history(of: 10_000_000, room) }
}

/// Queries of a list of cycles, each by another condition; some match nothing, so that all is looked through.
private struct Filters {
    var queries: [(name: String, query: String)] = [
        ("outcome", "outcome=failed"), ("rare outcome", "outcome=missed"), ("violation", "violation=out_of_order"),
        ("broken rule", "violation=failure_without_executed"), ("bucket", "bucket=A"), ("reason", "reason=AUTH"),
        ("platform", "platform=android"), ("version", "version=9.9.9"), ("stage", "stage=delivered"),
        ("lacking stage", "lacks=scheduled"), ("time", "from=2020-01-02T00:00:00Z&to=2020-01-03T00:00:00Z"),
        ("unknown schedule", "schedule=daily-1"), ("wrong", "wrong=true"),
        ("several", "outcome=failed&reason=AUTH&bucket=A&stage=used"),
        ("unknown installation", "installation=00112233445566778899aabbccddeeff"),
    ]

    /// Adds what needs numbers: pages behind most of the list.
    init(of service: ServiceProcess, behind closedCycles: Int) throws {
        let newest = try Self.newest(of: service, atLeast: UInt64(closedCycles * 99 / 100))
        queries.append(("last page", "before=\(newest - 99_000)&limit=200"))
        queries.append(("broken rule, last page", "bucket=A&before=\(newest - 95_000)&limit=200"))
    }

    /// The number of the newest cycle, once the list shows all that were posted: it is as of a moment up to a second ago.
    private static func newest(of service: ServiceProcess, atLeast expected: UInt64) throws -> UInt64 {
        struct List: Decodable {
            struct Cycle: Decodable { var number: UInt64 }
            var cycles: [Cycle]
        }
        let connection = try service.connect()
        let watch = Stopwatch()
        var newest: UInt64 = 0
        while watch.seconds < 5 {
            let answer = try connection.exchange(PreparedRequest(get: "/api/v1/cycles?limit=1"))
            newest = try JSONDecoder().decode(List.self, from: Data(answer.body)).cycles.first?.number ?? 0
            if newest >= expected { return newest }
            usleep(50_000)
        }
        throw BenchmarkFailure("the newest cycle is \(newest), not \(expected) or a later one")
    }
}
