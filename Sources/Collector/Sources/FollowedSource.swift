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
