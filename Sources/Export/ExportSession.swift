// SPDX-License-Identifier: Apache-2.0

internal import Gzip
package import Logging
internal import MetricsRegistry
internal import Synchronization

/// Sends the requests of one stream: adds what the transport needs, judges the answers, counts them, and logs when the
/// destination begins and ends to fail.
package final class ExportSession: Sendable {
    /// Reads the headers of the operator; an error tells why there are none.
    package typealias HeaderSource = @Sendable () throws -> [(name: String, value: String)]

    /// The largest request before compression; requests are far smaller by design.
    static let maximumRequestBytes = 64 << 20

    package let destination: ExportDestination
    private let connection: ExportConnection
    private let headers: HeaderSource
    let metrics: ExportMetrics
    private let now: @Sendable () -> Int64
    private let log: Logger
    private let state: Mutex<DeliveryState>
    private let told = Mutex(Told())
    private let started = ContinuousClock.now

    /// - Parameters:
    ///   - maximum: the largest request in bytes before compression.
    ///   - now: microseconds since 1970.
    package init(
        _ destination: ExportDestination,
        maximum: Int = 1 << 20,
        userAgent: String,
        headers: @escaping HeaderSource,
        metrics: ExportMetrics,
        now: @escaping @Sendable () -> Int64,
        log: Logger
    ) throws(ExportTLSError) {
        self.destination = destination
        connection = try ExportConnection(
            to: destination.endpoint,
            proxy: destination.proxy,
            files: destination.files,
            timeout: destination.timeout,
            userAgent: userAgent
        )
        self.headers = headers
        self.metrics = metrics
        self.now = now
        var log = log
        log[metadataKey: "destination"] = "\(destination.name)"
        log[metadataKey: "signal"] = "\(destination.signal.rawValue)"
        self.log = log
        state = Mutex(DeliveryState(maximum: min(maximum, Self.maximumRequestBytes)))
    }

    /// How large the next request may be as protobuf, in bytes before compression; as JSON it becomes almost twice as large.
    var limit: Int { state.withLock { destination.isJSON ? max($0.limit / 2, 1) : $0.limit } }

    /// How long to wait before the next request.
    var pause: Duration { max(state.withLock { $0.earliest } - elapsed, .zero) }

    /// What it failed with last; nil while it takes everything.
    package var complaint: String? { state.withLock { $0.complaint } }

    /// Microseconds since 1970.
    var time: Int64 { now() }

    private var elapsed: Duration { ContinuousClock.now - started }

    /// A request of OTLP as it is sent.
    struct Prepared: Sendable {
        /// Its bytes as protobuf, before compression.
        fileprivate let size: Int
        fileprivate var body: [UInt8]
        fileprivate var headers: [(name: String, value: String)]
    }

    /// Encodes and compresses a request as the destination wants it. It takes milliseconds for each megabyte: call it where
    /// a thread may be busy that long.
    func prepare(_ request: [UInt8]) -> Prepared {
        var prepared = Prepared(
            size: request.count,
            body: request,
            headers: [("Content-Type", destination.isJSON ? "application/json" : "application/x-protobuf")]
        )
        if destination.isJSON {
            let json = destination.signal == .logs ? OTLPJSON.logs(request) : OTLPJSON.metrics(request)
            prepared.body = json ?? []
        }
        if destination.isCompressed, let compressed = GzipBody.compress(prepared.body) {
            prepared.body = compressed
            prepared.headers.append(("Content-Encoding", "gzip"))
        }
        return prepared
    }

    /// Sends a request of OTLP.
    func sendOTLP(_ request: Prepared, count: Int) async -> DeliveryState.Decision {
        await send(request.body, request.headers, count: count, size: request.size) { .otlp($0, now: $1) }
    }

    /// Sends a request of remote write.
    ///
    /// - Returns: what to do with it, and why an older version must be spoken, if it must.
    func sendRemoteWrite(
        _ request: [UInt8],
        _ version: RemoteWrite.Version,
        count: Int
    ) async -> (decision: DeliveryState.Decision, older: String?) {
        let isFixed = destination.version != nil
        let older = Mutex<String?>(nil)
        let body = SnappyBlock.compress(request)
        let decision = await send(body, version.headers, count: count, size: request.count) { answer, now in
            let outcome = ExportOutcome.remoteWrite(answer, version, samples: count, now: now)
            guard case .otherVersion(let reason) = outcome else { return outcome }
            if isFixed { return .refused("\(reason); leave version= out to fall back to 1.0") }
            older.withLock { $0 = reason }
            return outcome
        }
        let reason = older.withLock { $0 }
        if let reason { log.notice("the destination gets remote write 1.0 from now on: \(reason)") }
        return (decision, reason)
    }

    private func send(
        _ body: [UInt8],
        _ transport: [(name: String, value: String)],
        count: Int,
        size: Int,
        _ judge: (ExportAnswer, Int64) -> ExportOutcome
    ) async -> DeliveryState.Decision {
        var outcome: ExportOutcome
        do {
            let own = destination.headers.map { (name: $0.name, value: $0.value) }
            let answer = try await connection.post(own + (try headers()) + transport, body)
            outcome = judge(answer, now() / 1_000_000)
        } catch {
            outcome = .again("\(error)", after: nil)
        }
        // A page is not cut: what is too large of it now will be too large at the next push.
        if case .tooLarge(let reason) = outcome, destination.signal != .logs { outcome = .refused(reason) }
        // A stop broke this one; it says nothing about the destination.
        if Task.isCancelled, case .again = outcome { return .again }
        let elapsed = elapsed
        let (decision, before, after) = state.withLock { state in
            let before = state
            var random = SystemRandomNumberGenerator()
            let decision = state.answered(outcome, count: count, size: size, now: elapsed, using: &random)
            return (decision, before, state)
        }
        account(outcome, decision, count)
        tell(decision, before, after)
        if case .taken(0, let note) = outcome, !note.isEmpty, told.withLock({ $0.warn() }) {
            log.notice("a destination took all and warns, which is told once: \(note)")
        }
        return decision
    }

    private func account(_ outcome: ExportOutcome, _ decision: DeliveryState.Decision, _ count: Int) {
        switch decision {
        case .proceed(let refused):
            metrics.sent.add(UInt64(count) - refused)
            metrics.refused.add(refused)
            metrics.up.set(refused == 0 ? 1 : 0)
        case .again:
            // The first request to a receiver of 1.0 is no failure.
            if case .otherVersion = outcome { return }
            metrics.retries.add()
            metrics.up.set(0)
        case .less: break
        }
    }

    /// The log tells the first failure, each other reason and the end, not each attempt.
    private func tell(_ decision: DeliveryState.Decision, _ before: DeliveryState, _ after: DeliveryState) {
        switch (decision, after.complaint) {
        case (.proceed(let refused), let reason?) where noteNews("refused: \(reason)"):
            log.error("a destination refused what it got: \(reason)", metadata: ["refused": "\(refused)"])
        case (.again, let reason?) where after.failures == 1 && before.failures == 0 && noteNews(reason):
            log.warning("a destination takes nothing: \(reason); trying again")
        case (.proceed, nil) where noteNews(nil):
            log.notice("the destination takes everything again")
        default: break
        }
    }

    private func noteNews(_ complaint: String?) -> Bool { told.withLock { $0.note(complaint) } }

    /// What the log has told.
    private struct Told {
        /// The last failure; nil where the last was that all is well.
        private var complaint: String?
        private var hasWarned = false

        /// Returns whether this is not what was told last.
        mutating func note(_ next: String?) -> Bool {
            defer { complaint = next }
            return complaint != next
        }

        /// Returns whether it is the first warning.
        mutating func warn() -> Bool {
            defer { hasWarned = true }
            return !hasWarned
        }
    }
}
