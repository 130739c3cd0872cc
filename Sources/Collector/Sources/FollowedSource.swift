// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging
internal import MetricsRegistry
internal import NIOPosix
internal import Synchronization
internal import TelemetryEvents

/// A followed file as a running source: on each wake-up it observes, reads, decodes and stores.
final class FollowedSource: Sendable {
    let path: String
    private let start: FilePosition?
    private let follower: Mutex<FileFollower>
    private let threads: NIOThreadPool
    private let metrics: FollowMetrics.Series
    private let log: Logger
    private let wakeUps: AsyncStream<Void>
    private let waking: AsyncStream<Void>.Continuation

    init(
        path: String,
        position: FilePosition?,
        pseudonyms: any Pseudonymising,
        threads: NIOThreadPool,
        followed: FollowedFiles,
        metrics: FollowMetrics.Series,
        log: Logger
    ) {
        self.path = path
        start = position
        self.threads = threads
        self.metrics = metrics
        self.log = log
        follower = Mutex(
            FileFollower(path: path, position: position, pseudonyms: pseudonyms, followed: followed)
        )
        (wakeUps, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        waking.yield()
    }

    /// The key of a file's position in the ledger.
    static func source(_ path: String, _ pseudonyms: any Pseudonymising) -> UInt64 {
        pseudonyms.pseudonym(of: Array("followed file \(path)".utf8).span).high
    }

    func wake() { waking.yield() }

    /// Follows until stopped, and then stores what was read.
    func run(_ intake: consuming LogIntake<FilePosition>, stop: SourceStop) async {
        var intake = intake
        do throws(IntakeEnded) {
            for await _ in wakeUps {
                if stop.isRequested { break }
                var chunk = await step { follower in
                    follower.look(now: Self.monotonic())
                    return follower.next()
                }
                while let next = chunk {
                    setLag(intake)
                    try await intake.take(next.lines, bytesRead: next.bytesRead, position: next.position)
                    if stop.isRequested { break }
                    chunk = await step { $0.next() }
                }
                try await intake.idle()
                setLag(intake)
            }
            try await intake.pause()
        } catch {
            log.info(
                "following a file ends before all of it is stored; it resumes at the next start",
                metadata: ["file": "\(path)"]
            )
        }
    }

    /// Works on the file on a blocking thread, and logs the notices.
    private func step(
        _ body: @escaping @Sendable (inout FileFollower) -> FileTail.Chunk?
    ) async -> FileTail.Chunk? {
        let result = try? await threads.runIfActive { [self] in
            follower.withLock { follower in
                (body(&follower), follower.takeNotices(), follower.failures)
            }
        }
        guard let (chunk, notices, failures) = result else { return nil }
        metrics.failures.restore(to: failures)
        for notice in notices { report(notice) }
        return chunk
    }

    private func setLag(_ intake: borrowing LogIntake<FilePosition>) {
        let stored = intake.stored ?? start
        metrics.lag.set(follower.withLock { $0.tail.lag(behind: stored) })
    }

    private func report(_ notice: FileTail.Notice) {
        let file: Logger.Metadata = ["file": "\(path)"]
        switch notice {
        case .rotated:
            metrics.rotations.add()
            log.info("a followed file was rotated", metadata: file)
        case .truncated:
            metrics.rotations.add()
            log.info("a followed file was truncated", metadata: file)
        case .lostRest:
            metrics.gaps.add()
            log.warning(
                "the rest of a followed file was not found after a rotation; lines may be missing",
                metadata: file
            )
        case .grown:
            metrics.gaps.add()
            log.warning(
                "lines were written to a rotated file long after it was read to its end; they are not counted",
                metadata: file
            )
        case .refused(let problem): log.error("\(problem); trying again")
        case .readable: log.notice("the followed file is readable again", metadata: file)
        }
    }

    private static func monotonic() -> Int64 { Int64(clamping: LedgerClock.system.monotonic() / 1_000) }
}

/// Executes the requests of one file's tail; all calls block while the disk does.
struct FileFollower: Sendable {
    let path: String
    private(set) var tail: FileTail
    private let pseudonyms: any Pseudonymising
    private let followed: FollowedFiles
    private var files: [FileIdentity: OpenFile] = [:]
    /// How many calls have failed.
    private(set) var failures: UInt64 = 0

    /// - Parameter followed: The files that the service follows.
    init(path: String, position: FilePosition?, pseudonyms: any Pseudonymising, followed: FollowedFiles) {
        self.path = path
        self.followed = followed
        self.pseudonyms = pseudonyms
        tail = FileTail(path: path, position: position, pseudonyms: pseudonyms)
    }

    /// Observes the path; to be called when `next()` has nothing more, and at intervals.
    mutating func look(now: Int64) {
        var seen = FileAccess.look(path)
        if case .file(let status) = seen, let problem = followed.problem(status.identity, for: path) {
            seen = .refused(problem)
        }
        if case .refused = seen { failures += 1 }
        tail.look(seen, now: now)
    }

    /// The next lines; nil until the next look.
    mutating func next() -> FileTail.Chunk? {
        while true {
            switch tail.next() {
            case .deliver(let chunk): return chunk
            case .survey(let offset): survey(offset)
            case .open(let target): open(target)
            case .read(let identity, let offset, let count): read(identity, offset, count)
            case .rest: return nil
            }
            let needed = tail.openIdentities
            for identity in files.keys where !needed.contains(identity) {
                files[identity] = nil
                followed.release(identity, for: path)
            }
        }
    }

    private mutating func survey(_ offset: UInt64) {
        let others = followed.others(besides: path)
        let siblings = FileAccess.survey(path, offset: offset, pseudonyms)
        tail.surveyed(siblings.filter { !others.contains($0.status.identity) })
    }

    private mutating func open(_ target: FileTail.Target) {
        do throws(FileProblem) {
            guard let (file, status) = try FileAccess.open(target.path, target.identity) else {
                return tail.failedToOpen(nil)
            }
            try followed.claim(target.identity, for: path)
            let mark = try FileAccess.mark(file, before: target.resumed?.offset ?? 0)
            files[target.identity] = file
            tail.opened(status, mark: mark)
        } catch {
            failures += 1
            tail.failedToOpen(error)
        }
    }

    private mutating func read(_ identity: FileIdentity, _ offset: UInt64, _ count: Int) {
        do throws(FileProblem) {
            guard let file = files[identity] else { throw FileProblem(description: "\(path) is not open") }
            tail.took(try FileAccess.read(file, at: offset, count: count), of: identity)
        } catch {
            failures += 1
            tail.failedToRead(error, of: identity)
        }
    }

    mutating func takeNotices() -> [FileTail.Notice] { tail.takeNotices() }
}

/// The files that are being read, so that none is read twice under two paths.
final class FollowedFiles: Sendable {
    private let paths: [String]
    private let pathOfFile = Mutex<[FileIdentity: String]>([:])

    /// - Parameter paths: All followed paths.
    init(_ paths: [String]) {
        self.paths = paths
    }

    /// The files that are at the other paths now.
    func others(besides path: String) -> Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        for other in paths where other != path {
            if case .file(let status) = FileAccess.look(other) { identities.insert(status.identity) }
        }
        return identities
    }

    /// The problem of a file that is already read for another path.
    func problem(_ identity: FileIdentity, for path: String) -> FileProblem? {
        guard let other = pathOfFile.withLock({ $0[identity] }), other != path else { return nil }
        return Self.problem(path, other)
    }

    /// Claims a file for a path, unless it is read for another one.
    func claim(_ identity: FileIdentity, for path: String) throws(FileProblem) {
        let owner = pathOfFile.withLock { paths in
            let owner = paths[identity] ?? path
            paths[identity] = owner
            return owner
        }
        if owner != path { throw Self.problem(path, owner) }
    }

    /// Releases a file that was closed.
    func release(_ identity: FileIdentity, for path: String) {
        pathOfFile.withLock { paths in
            if paths[identity] == path { paths[identity] = nil }
        }
    }

    private static func problem(_ path: String, _ other: String) -> FileProblem {
        FileProblem(description: "cannot follow \(path): it is the same file as \(other), which is followed already")
    }

    /// The problem of two paths that are one file: by name, hard link or symbolic link.
    static func twice(_ paths: [String]) -> FileProblem? {
        var names: [String: String] = [:]
        var identities: [FileIdentity: String] = [:]
        for path in paths {
            if let other = names.updateValue(path, forKey: FileAccess.resolved(path)) { return problem(path, other) }
            guard case .file(let status) = FileAccess.look(path) else { continue }
            if let other = identities.updateValue(path, forKey: status.identity) { return problem(path, other) }
        }
        return nil
    }
}

/// The metrics of followed files, since the start of the process.
struct FollowMetrics: Sendable {
    /// The metrics of one file.
    struct Series: Sendable {
        let lag: Gauge
        let failures: Counter
        let rotations: Counter
        let gaps: Counter
    }

    private let lag: GaugeFamily
    private let failures: CounterFamily
    private let rotations: CounterFamily
    private let gaps: CounterFamily

    init(_ registry: MetricsRegistry) {
        lag = registry.gauge(
            "dnp_telemetry_follow_lag_bytes",
            help: "Bytes of a followed file that were seen and are not stored yet.",
            unit: "bytes",
            labels: ["file"]
        )
        failures = registry.counter(
            "dnp_telemetry_follow_read_errors_total",
            help: "Attempts to look at, open or read a followed file that failed.",
            labels: ["file"]
        )
        rotations = registry.counter(
            "dnp_telemetry_follow_rotations_total",
            help: "Rotations of a followed file, by rename or by truncation.",
            labels: ["file"]
        )
        gaps = registry.counter(
            "dnp_telemetry_follow_gaps_total",
            help: "Times that the rest of a file, or what was known of it, was not found: lines may be missing.",
            labels: ["file"]
        )
    }

    func series(of file: String) -> Series {
        Series(
            lag: lag.with(file),
            failures: failures.with(file),
            rotations: rotations.with(file),
            gaps: gaps.with(file)
        )
    }
}
