// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging
internal import MetricsRegistry
internal import NIOPosix
internal import Synchronization
internal import TelemetryEvents

/// A followed file as a running source: looks, reads, decodes, stores, and again when it is woken.
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

    /// What the position of a file is kept under.
    static func source(_ path: String, _ pseudonyms: any Pseudonymising) -> UInt64 {
        pseudonyms.pseudonym(of: Array("followed file \(path)".utf8).span).high
    }

    func wake() { waking.yield() }

    /// Follows until told to end; what was read is stored then.
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
            log.info("the followed file waits for the next start", metadata: ["file": "\(path)"])
        }
    }

    /// Works on the file on a thread that may block, and tells what was met.
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
        for notice in notices { tell(notice) }
        return chunk
    }

    private func setLag(_ intake: borrowing LogIntake<FilePosition>) {
        let stored = intake.stored ?? start
        metrics.lag.set(follower.withLock { $0.tail.lag(behind: stored) })
    }

    private func tell(_ notice: FileTail.Notice) {
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

/// Follows one file: does what its tail asks for. All calls block for as long as the disk takes.
struct FileFollower: Sendable {
    let path: String
    private(set) var tail: FileTail
    private let pseudonyms: any Pseudonymising
    private let followed: FollowedFiles
    private var files: [FileIdentity: OpenFile] = [:]
    /// How often something could not be read.
    private(set) var failures: UInt64 = 0

    /// - Parameter followed: all that is followed with it.
    init(path: String, position: FilePosition?, pseudonyms: any Pseudonymising, followed: FollowedFiles) {
        self.path = path
        self.followed = followed
        self.pseudonyms = pseudonyms
        tail = FileTail(path: path, position: position, pseudonyms: pseudonyms)
    }

    /// Looks at the path; call it when `next()` has nothing more, and again after a while.
    mutating func look(now: Int64) {
        var seen = FileAccess.look(path)
        if case .file(let status) = seen, let problem = followed.problem(status.identity, for: path) {
            seen = .refused(problem)
        }
        if case .refused = seen { failures += 1 }
        tail.look(seen, now: now)
    }

    /// The next lines; nil when there are none until the next look.
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
                followed.leave(identity, for: path)
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
            try followed.take(target.identity, for: path)
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

/// Which file is read by whom, so that none is read twice under two names.
final class FollowedFiles: Sendable {
    private let paths: [String]
    private let readers = Mutex<[FileIdentity: String]>([:])

    /// - Parameter paths: all that is followed.
    init(_ paths: [String]) {
        self.paths = paths
    }

    /// What stands at the other paths now.
    func others(besides path: String) -> Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        for other in paths where other != path {
            if case .file(let status) = FileAccess.look(other) { identities.insert(status.identity) }
        }
        return identities
    }

    /// Why a file must not be read for a path: it is read for another one.
    func problem(_ identity: FileIdentity, for path: String) -> FileProblem? {
        guard let reader = readers.withLock({ $0[identity] }), reader != path else { return nil }
        return Self.problem(path, reader)
    }

    /// Takes a file for a path, unless it is read for another one.
    func take(_ identity: FileIdentity, for path: String) throws(FileProblem) {
        let reader = readers.withLock { readers in
            let reader = readers[identity] ?? path
            readers[identity] = reader
            return reader
        }
        if reader != path { throw Self.problem(path, reader) }
    }

    /// A path's reader has closed a file.
    func leave(_ identity: FileIdentity, for path: String) {
        readers.withLock { readers in
            if readers[identity] == path { readers[identity] = nil }
        }
    }

    private static func problem(_ path: String, _ other: String) -> FileProblem {
        FileProblem(description: "cannot follow \(path): it is the same file as \(other), which is followed already")
    }

    /// Two of the paths that are one file: by name, by link or by symbolic link.
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

/// How the followed files are followed, since this start.
struct FollowMetrics: Sendable {
    /// Those of one file.
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
