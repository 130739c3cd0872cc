// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import MetricsRegistry

/// The metrics of the ledger and its writer.
struct LedgerMetrics: Sendable {
    private let commits: Counter
    private let failures: Counter
    private let commitSeconds: Histogram
    private let batchEvents: Histogram
    private let refused: CounterFamily
    private let busySeconds: Gauge
    private let waiting: Gauge
    private let waitingBytes: Gauge
    private let bytes: Gauge
    private let availableBytes: Gauge
    private let roomBytes: Gauge
    private let heldBackBytes: Gauge
    private let logBytes: Gauge
    private let memoryBytes: Gauge
    private let pendingBatches: Gauge

    /// - Parameter wasSetAside: whether a damaged ledger was set aside at this start.
    init(_ registry: MetricsRegistry, wasSetAside: Bool) {
        commits = registry.counter("dnp_telemetry_ledger_commits_total", help: "Transactions committed to the ledger.")
        failures = registry.counter(
            "dnp_telemetry_ledger_commit_failures_total",
            help: "Transactions that could not be committed; none of their events was acknowledged."
        )
        commitSeconds = registry.histogram(
            "dnp_telemetry_ledger_commit_seconds",
            help: "Time of a commit.",
            unit: "seconds",
            buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
        )
        batchEvents = registry.histogram(
            "dnp_telemetry_ledger_batch_events",
            help: "Events in a commit.",
            buckets: [1, 10, 100, 1_000, 10_000, 100_000]
        )
        refused = registry.counter(
            "dnp_telemetry_ledger_refused_total",
            help: "Requests and pieces of logs that the ledger did not take, by reason; nothing of them was stored.",
            labels: ["reason"]
        )
        for reason in RefusalReason.allCases { _ = refused.with(reason.rawValue) }
        busySeconds = registry.gauge(
            "dnp_telemetry_ledger_busy_seconds",
            help: "How long what the ledger's writer does has taken so far; 0 while it waits for work.",
            unit: "seconds"
        )
        waiting = registry.gauge(
            "dnp_telemetry_ledger_waiting_submissions",
            help: "Requests that wait for a commit."
        )
        waitingBytes = registry.gauge(
            "dnp_telemetry_ledger_waiting_bytes",
            help: "Bytes of the requests that wait for a commit.",
            unit: "bytes"
        )
        bytes = registry.gauge("dnp_telemetry_ledger_bytes", help: "Size of the ledger on disk.", unit: "bytes")
        availableBytes = registry.gauge(
            "dnp_telemetry_ledger_available_bytes",
            help: "Bytes that the file system still has for the ledger.",
            unit: "bytes"
        )
        roomBytes = registry.gauge(
            "dnp_telemetry_ledger_room_bytes",
            help: "Bytes that events may still take before the ledger refuses them.",
            unit: "bytes"
        )
        heldBackBytes = registry.gauge(
            "dnp_telemetry_ledger_held_back_bytes",
            help: "Bytes that the ledger holds back for its next checkpoint, for deleting batches and for ticks.",
            unit: "bytes"
        )
        logBytes = registry.gauge(
            "dnp_telemetry_ledger_log_bytes",
            help: "Size of the ledger's write-ahead log, part of its size on disk.",
            unit: "bytes"
        )
        memoryBytes = registry.gauge(
            "dnp_telemetry_ledger_memory_bytes",
            help: "Memory that SQLite uses, most of it for pages.",
            unit: "bytes"
        )
        pendingBatches = registry.gauge(
            "dnp_telemetry_ledger_backlog_batches",
            help: "Batches in the ledger that are kept for a checkpoint, the journal or the retention."
        )
        registry.gauge(
            "dnp_telemetry_ledger_set_aside",
            help: "1 when a damaged ledger was set aside at this start, else 0."
        ).set(wasSetAside ? 1 : 0)
    }

    func observe(_ report: CommitReport) {
        guard report.error == nil else { return failures.add() }
        guard report.batches > 0 else { return }
        commits.add()
        commitSeconds.observe(Double(report.nanoseconds) / 1e9)
        batchEvents.observe(Double(report.events))
    }

    func collect(_ writer: GroupCommitStatistics) {
        waiting.set(writer.waitingSubmissions)
        waitingBytes.set(writer.waitingBytes)
        busySeconds.set(Double(writer.busyNanoseconds) / 1e9)
        for reason in RefusalReason.allCases {
            refused.with(reason.rawValue).restore(to: writer.refusals(for: reason))
        }
    }

    func collect(_ room: LedgerRoom) {
        roomBytes.set(room.roomForEvents)
        heldBackBytes.set(room.heldBackBytes)
    }

    func collect(_ ledger: LedgerStatistics) {
        bytes.set(ledger.bytesOnDisk)
        if let available = ledger.availableBytes { availableBytes.set(available) }
        logBytes.set(ledger.logBytes)
        memoryBytes.set(ledger.memoryBytes)
        pendingBatches.set(ledger.batches)
    }
}

/// The reason why the ledger refused a submission.
private enum RefusalReason: String, CaseIterable {
    /// Too much waited (`max-backlog`).
    case backlog
    /// Commits took too long (`max-commit-time`).
    case commitTime = "commit_time"
    /// There was no space left.
    case full
    /// The ledger failed otherwise.
    case failed
}

extension GroupCommitStatistics {
    fileprivate func refusals(for reason: RefusalReason) -> UInt64 {
        switch reason {
        case .backlog: overloads
        case .commitTime: slowRefusals
        case .full: fullSubmissions
        case .failed: failedSubmissions - fullSubmissions
        }
    }
}
