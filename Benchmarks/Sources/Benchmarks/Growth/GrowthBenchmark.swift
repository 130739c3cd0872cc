// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LedgerState
internal import MetricsRegistry

/// What an event, a series, a connection and a restart cost as there are more of what they meet, each size on a row.
///
/// Runs only where it is named: it takes as long as all others.
enum GrowthBenchmark: Benchmark {
    static let name = "growth"

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let key = try InstallationKey(directory: try room.directory("key"))
        return try events(key) + cycles(key) + installations(key) + series() + connections(room) + restarts(room)
    }

    private static func sizes(_ exponents: ClosedRange<Int>) -> [Int] {
        exponents.map { exponent in (0..<exponent).reduce(1) { size, _ in size * 10 } }
    }

    private static func row(_ axis: String, _ size: Int, _ unit: String, _ runs: [Double]) -> Row {
        Row("\(axis): \(size)", unit, runs)
    }

    // MARK: Fold

    /// An event of the last tenth before each size; 10,000 cycles are open, and the others close.
    private static func events(_ key: InstallationKey) throws -> [Row] {
        var fold = GrowingFold(key, installations: 50)
        var cycle = 0
        return try sizes(4...8).map { size in
            var runs: [Double] = []
            let from = size * 9 / 10
            while cycle * 2 < size {
                if cycle * 2 == from { _ = fold.takeCost() }
                try fold.takeClosing(cycle..<cycle + 500, pace: 90_000)
                cycle += 500
                if cycle * 2 > from, (cycle * 2 - from).isMultiple(of: max(1_000, size / 50)) {
                    runs.append(fold.takeCost())
                }
            }
            return row("events folded before", size, "ns", runs)
        }
    }

    /// An event of an open cycle, anywhere among them.
    private static func cycles(_ key: InstallationKey) throws -> [Row] {
        var fold = GrowingFold(key, installations: 5_000)
        var opened = 0
        return try sizes(3...7).map { size in
            while opened < size {
                try fold.takeScheduled(opened..<opened + 1_000)
                opened += 1_000
            }
            guard fold.openCycles == size else {
                throw BenchmarkFailure("\(fold.openCycles) of \(size) cycles are open")
            }
            let stride = size / 1_000
            let runs = try measured(&fold, of: min(stride, 100)) { part, fold in
                try fold.takeExecuted((0..<1_000).map { $0 * stride + part * 7 % stride }, of: size)
            }
            return row("open cycles", size, "ns", runs)
        }
    }

    /// An event of a new cycle, of any of so many installations.
    private static func installations(_ key: InstallationKey) throws -> [Row] {
        try sizes(2...6).map { size in
            var fold = GrowingFold(key, installations: size)
            var cycle = 0
            for _ in 0..<max(size / 1_000, 1) {
                try fold.takeScheduled(cycle..<cycle + 1_000)
                cycle += 1_000
            }
            return row(
                "installations",
                size,
                "ns",
                try measured(&fold, of: 100) { _, fold in
                    // A prime number apart, so that they are of installations all over the table.
                    try fold.takeScheduled((0..<1_000).map { cycle + $0 * 7_919 })
                    cycle += 1_000 * 7_919
                }
            )
        }
    }

    /// The cost of some parts of 1,000 events, ten of them a run.
    private static func measured(
        _ fold: inout GrowingFold,
        of parts: Int,
        _ part: (Int, inout GrowingFold) throws -> Void
    ) throws -> [Double] {
        _ = fold.takeCost()
        var runs: [Double] = []
        for number in 0..<max(parts, 1) {
            try part(number, &fold)
            if parts < 10 || number % 10 == 9 { runs.append(fold.takeCost()) }
        }
        return runs
    }

    // MARK: Registry

    /// A series of a page whose values have all changed.
    private static func series() -> [Row] {
        sizes(2...5).map { size in
            let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })
            let counters = (0..<max(size / 1_000, 1)).flatMap { family in
                let counter = registry.counter(
                    "requests_of_\(family)_total",
                    help: "Requests answered.",
                    labels: ["route"]
                )
                return (0..<min(size, 1_000)).map { counter["/v1/resources/\(1_000 + $0)"] }
            }
            var page: [UInt8] = []
            var round: UInt64 = 0
            let times = Stopwatch.cpuTimes(5) {
                round += 1
                for (index, counter) in counters.enumerated() { counter.add(round &* UInt64(index) % 10_007) }
                registry.exposition(into: &page, format: .text004)
            }
            return row("series on a page", size, "ns", times.map { $0 / Double(size) * 1e9 })
        }
    }

    // MARK: Service

    /// CPU time of an event that comes by one of so many connections, and what a connection adds to the memory.
    private static func connections(_ room: BenchmarkRoom) throws -> [Row] {
        var files = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        files.rlim_cur = files.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        return try [1, 10, 100, 1_000, 5_000].flatMap { count in
            let service = try ServiceProcess(in: room, ServiceProcess.Settings(options: ["--max-connections", "8000"]))
            try service.start()
            let requests = EventLines(count: 500_000, kind: .wholeCycles).requests(eventsPerRequest: 100)
            // As much as the others before the first connection, which the memory is compared with.
            let warmUp = EventLines(count: 100_000, kind: .wholeCycles, firstCycle: 5_000_000)
            _ = try LoadClient(connections: 1).send(warmUp.requests(eventsPerRequest: 100), to: service)
            let before = try service.memory.resident
            let lines = try (0..<count).map { _ in try service.connect() }
            let ready = PreparedRequest(get: "/-/ready")
            for line in lines { _ = try line.exchange(ready) }
            let connected = try service.memory.resident
            let clock = try service.cpuClock
            let begun = clock.seconds
            for (number, request) in requests.enumerated() {
                let answer = try lines[number % count].exchange(request)
                guard answer.status == 200 else { throw BenchmarkFailure("answer \(answer.status): \(answer.text)") }
            }
            let cost = (clock.seconds - begun) / 500_000 * 1e9
            return [row("connections", count, "ns", [cost])]
                + (count < 1_000
                    ? []
                    : [row("memory of connections, each", count, "bytes", [(connected - before) / Double(count) * 1e6])])
        }
    }

    /// From a start until it is ready, after a kill and after a stop, and what the stop takes.
    private static func restarts(_ room: BenchmarkRoom) throws -> [Row] {
        try sizes(3...6).flatMap { size in
            let service = try ServiceProcess(in: room, ServiceProcess.Settings())
            try service.start()
            let events = EventLines(count: size, kind: .onlyScheduled).requests(eventsPerRequest: 1_000)
            _ = try LoadClient(connections: 4).send(events, to: service)
            service.kill()
            let killed = try service.start()
            guard try Int(service.metric("dnp_prefetch_open_cycles")) == size else {
                throw BenchmarkFailure("not all of \(size) cycles came back")
            }
            let watch = Stopwatch()
            try service.stop()
            let stop = watch.seconds
            let stopped = try service.start()
            return [
                row("open cycles, start after a kill", size, "ms", [killed * 1e3]),
                row("open cycles, stop with a checkpoint", size, "ms", [stop * 1e3]),
                row("open cycles, start after a stop", size, "ms", [stopped * 1e3]),
            ]
        }
    }
}
