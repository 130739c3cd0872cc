// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Export
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import ServiceLifecycle
internal import TelemetryEvents
internal import TextOutput

/// All that goes to other systems: a stream for each destination and signal.
struct ExportPipeline: Sendable {
    /// A stream of log records with how far it is.
    private struct LogStream: Sendable {
        let name: String
        let source: EventLogSource
        let progress: DeliveryProgress
        let export: LogsExport
    }

    /// What the console shows of a stream.
    struct Health: Sendable {
        let destination: ExportDestination
        /// Why it takes nothing, or refused what it got last; nil while it takes everything.
        let complaint: String?
        /// The events that it does not have yet; nil for metrics, which do not wait.
        let pending: UInt64?
    }

    private let sessions: [ExportSession]
    private let logs: [LogStream]
    private let metrics: [MetricsExport]

    /// - Parameter key: the key of the hashes that identify cycles.
    /// - Throws: what is wrong with the files of a destination, or with the ledger.
    init(
        _ configuration: ServeConfiguration,
        _ ledger: EventLedger,
        upTo readable: LedgerPosition?,
        _ registry: MetricsRegistry,
        key: IdentityKey,
        now: @escaping @Sendable () -> Int64,
        log: Logger
    ) throws {
        let version = BuildVersion.current
        let resource = ExportResource(
            version: version,
            instance: ledger.id,
            named: configuration.resourceAttributes
        )
        var (sessions, logs, metrics) = ([ExportSession](), [LogStream](), [MetricsExport]())
        for stream in configuration.exports.flatMap(\.streams) {
            if let problem = ExportFiles.problem(of: stream, configuration.credentialsDirectory) {
                throw ConfigurationProblem(.option("--export"), problem)
            }
            let headers = CredentialHeaders(stream, configuration.credentialsDirectory)
            let session = try ExportSession(
                stream,
                userAgent: "dnp-telemetry/\(version)",
                headers: { try headers?.read() ?? [] },
                metrics: ExportMetrics(registry, stream),
                now: now,
                log: log
            )
            sessions.append(session)
            guard stream.signal == .logs else {
                metrics.append(
                    MetricsExport(session, resource, version: version) { [weak registry] in
                        guard let page = await registry?.page(.protobuf) else { return nil }
                        return try? MetricsPage(page, time: UInt64(max(now(), 0)) * 1_000)
                    }
                )
                continue
            }
            let progress = try DeliveryProgress.resume(
                ledger,
                projection: "export \(stream.name)",
                upTo: readable
            )
            let source = EventLogSource(
                ledger,
                try LedgerReader.open(directory: configuration.stateDirectory),
                progress,
                destination: stream.name,
                key: key,
                log: log
            )
            logs.append(
                LogStream(
                    name: stream.name,
                    source: source,
                    progress: progress,
                    export: LogsExport(session, source, OTLPLogs(resource, version: version))
                )
            )
        }
        self.sessions = sessions
        self.logs = logs
        self.metrics = metrics
        if !logs.isEmpty { collectLag(ledger, registry) }
    }

    var isEmpty: Bool { sessions.isEmpty }

    /// How far the destinations of events are.
    var progresses: [DeliveryProgress] { logs.map(\.progress) }

    /// Says that the ledger has grown.
    func committed(_ sequence: UInt64) {
        for stream in logs {
            stream.progress.committed(sequence)
            stream.export.wake()
        }
    }

    /// - Parameter accepted: the number of the last event.
    func health(accepted: UInt64) -> [Health] {
        sessions.map { session in
            let isLogs = session.destination.signal == .logs
            let latest = logs.first { isLogs && $0.name == session.destination.name }?.progress.latest
            return Health(
                destination: session.destination,
                complaint: session.complaint,
                pending: latest.map { accepted - min($0, accepted) }
            )
        }
    }

    private func collectLag(_ ledger: EventLedger, _ registry: MetricsRegistry) {
        let metrics = ExportLagMetrics(registry)
        for stream in logs { metrics.dropped.with(stream.name).add(0) }
        registry.collector("export") { [logs] in
            let statistics = try ledger.reader.statistics()
            for stream in logs {
                let (saved, since) = stream.progress.waiting
                let pending = statistics.end.sequence - min(saved.position.sequence, statistics.end.sequence)
                metrics.events.with(stream.name).set(Double(pending))
                let age = pending == 0 ? 0 : since.map { stream.progress.age(since: $0) } ?? 0
                metrics.seconds.with(stream.name).set(Double(age) / 1_000_000)
                metrics.dropped.with(stream.name).restore(to: stream.source.dropped(pruned: statistics.pruned))
            }
        }
    }

    /// Runs all streams until the task is cancelled, and the last pushes after that.
    fileprivate func run() async {
        await withTaskGroup(of: Void.self) { group in
            for stream in logs { group.addTask { await stream.export.run() } }
            for export in metrics { group.addTask { await export.run() } }
            await group.waitForAll()
        }
    }
}

/// How far destinations of events are behind the ledger.
struct ExportLagMetrics: Sendable {
    fileprivate let events: GaugeFamily
    fileprivate let seconds: GaugeFamily
    fileprivate let dropped: CounterFamily

    init(_ registry: MetricsRegistry) {
        events = registry.gauge(
            "dnp_telemetry_export_lag_events",
            help: "Events in the ledger that a destination does not have yet.",
            labels: ["destination"]
        )
        seconds = registry.gauge(
            "dnp_telemetry_export_lag_seconds",
            help: "Age of the oldest event that a destination does not have yet.",
            unit: "seconds",
            labels: ["destination"]
        )
        dropped = registry.counter(
            "dnp_telemetry_export_dropped_total",
            help: "Events that a destination never gets: deleted before it took them, or unreadable.",
            labels: ["destination"]
        )
    }
}

/// Sends to all destinations, from the start of the service until nothing is committed any more.
struct ExportService: Service {
    let pipeline: ExportPipeline

    func run() async throws {
        guard !pipeline.isEmpty else {
            try? await gracefulShutdown()
            return
        }
        await cancelWhenGracefulShutdown { await pipeline.run() }
    }
}

/// The files that a destination names.
enum ExportFiles {
    /// Why the service would not start with them; nil where it would.
    static func problem(of stream: ExportDestination, _ directory: CredentialsDirectory?) -> String? {
        do {
            _ = try CredentialHeaders(stream, directory)?.read()
            if stream.endpoint.isEncrypted { try stream.files.check() }
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// The headers of a destination in a file, read before each request, so that a token can be replaced without a restart.
private struct CredentialHeaders: Sendable {
    /// Why there are no headers; never their content.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let path: String

    /// Nil for a destination without a file. A name without a slash is that of a file in the credentials directory.
    init?(_ stream: ExportDestination, _ directory: CredentialsDirectory?) {
        guard let file = stream.headersFile else { return nil }
        path = file.contains("/") ? file : "\(directory?.path ?? ".")/\(file)"
    }

    func read() throws -> [(name: String, value: String)] {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, maximumSize: ExportHeaders.maximumBytes)
        } catch {
            throw Failure(description: "the headers cannot be read from \(path): \(error)")
        }
        guard let headers = ExportHeaders.parse(bytes) else {
            throw Failure(description: "expected lines of the form Name: value in \(path), found something else")
        }
        return headers
    }
}
