// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LedgerState

/// What the real service keeps in memory, and how soon it is ready again with that behind it.
enum ServiceMemoryBenchmark: Benchmark {
    static let name = "memory"

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        try withoutJournal(room) + openCycles(room) + withJournal(room)
    }

    private static func withoutJournal(_ room: BenchmarkRoom) throws -> [Row] {
        let service = try ServiceProcess(in: room, ServiceProcess.Settings())
        try service.start()
        let rest = try service.memory
        _ = try LoadClient(connections: 4).send(room.cycles, to: service)
        let after = try service.memory
        let identities = try service.metric("dnp_telemetry_remembered_identities")
        let bytes = try service.metric("dnp_telemetry_remembered_identities_bytes")
        return [
            row("service at rest, just started", rest, target: .atMost(30)),
            row("service after 1,000,000 events in 200,000 cycles, journal off", after),
            Row("its bytes per remembered identity", "bytes", [bytes / identities], target: .atMost(12)),
        ] + (try recoveries(of: service, "1,000,000 events in 200,000 cycles", target: nil))
    }

    private static func openCycles(_ room: BenchmarkRoom) throws -> [Row] {
        let requests = EventLines(count: 1_000_000, kind: .onlyScheduled).requests(eventsPerRequest: 1_000)
        let service = try ServiceProcess(in: room, ServiceProcess.Settings())
        try service.start()
        _ = try LoadClient(connections: 4).send(requests, to: service)
        let cycles = Int(try service.metric("dnp_prefetch_open_cycles"))
        return [row("service with \(cycles) open cycles, journal off", try service.memory)]
            + (try recoveries(of: service, "\(cycles) open cycles", target: .atMost(2)))
    }

    /// Starts again after a kill and after an orderly end.
    private static func recoveries(of service: ServiceProcess, _ what: String, target: Target?) throws -> [Row] {
        let events = try service.metric("dnp_telemetry_events_accepted_total")
        service.kill()
        let killed = try service.start()
        guard try service.metric("dnp_telemetry_events_accepted_total") == events else {
            throw BenchmarkFailure("the counters did not come back after a kill")
        }
        let memory = try service.memory
        let watch = Stopwatch()
        try service.stop()
        let stopping = watch.seconds
        let stopped = try service.start()
        return [
            Row("start to ready after a kill, \(what)", "s", [killed], target: target),
            row("service after that recovery", memory),
            Row(
                "start to ready after a stop, \(what)",
                "s",
                [stopped],
                target: target,
                note: "the stop took \(Int(stopping * 1_000)) ms"
            ),
        ]
    }

    private static func withJournal(_ room: BenchmarkRoom) throws -> [Row] {
        let work = "service, journal on: 1,000,000 events"
        if let reason = room.options.withoutJournal { return [.notMeasured(work, because: reason)] }
        let journald = try PrivateJournald()
        return try withExtendedLifetime(journald) {
            let service = try ServiceProcess(in: room, ServiceProcess.Settings(journal: "journald"))
            try service.start()
            let rest = try service.memory
            let watch = Stopwatch()
            let load = try LoadClient(connections: 4).send(room.cycles, to: service)
            let posted = try service.memory
            try Deadline(seconds: 180).wait(for: "the journal to catch up", every: 100_000) {
                try service.metric("dnp_telemetry_journal_pending_entries") == 0
            }
            let journaled = watch.seconds
            let lost = try service.metric("dnp_telemetry_journal_entries_lost_total")
            return [
                row("service at rest, journal on", rest, target: .atMost(30)),
                Row("\(work) committed meanwhile", "events/s", [Double(load.events) / load.seconds]),
                row("\(work) posted", posted),
                Row(
                    "\(work) in the journal, confirmed",
                    "entries/s",
                    [Double(load.events) / journaled],
                    note: lost > 0 ? "\(Int(lost)) entries were lost and sent again" : nil
                ),
                row("\(work) confirmed", try service.memory),
            ]
        }
    }

    private static func row(_ work: String, _ memory: ProcessMemory, target: Target? = nil) -> Row {
        let anonymous = String(Int((memory.anonymous * 10).rounded()) / 10)
        return Row(work, "MB", [memory.resident], target: target, note: "\(anonymous) MB of it are not files'")
    }
}
