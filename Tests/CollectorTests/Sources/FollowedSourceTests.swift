// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import Logging
import MetricsRegistry
import NIOPosix
import Synchronization
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

extension OneAtATime {
    @Suite("A followed file in the service")
    struct FollowedSourceTests {
        /// A follower on a pipeline, which runs until it is stopped.
        final class Following: Sendable {
            let source: FollowedSource
            private let stop = SourceStop()
            private let running: Task<Void, Never>

            init(_ path: String, _ pipeline: Pipeline) async throws {
                let name = FollowedSource.source(path, SumPseudonym())
                let saved = try await pipeline.sources.position(of: name).flatMap { FilePosition.decode($0) }
                source = FollowedSource(
                    path: path,
                    position: saved?.position,
                    pseudonyms: SumPseudonym(),
                    threads: .singleton,
                    followed: FollowedFiles([path]),
                    metrics: FollowMetrics(pipeline.registry).series(of: path),
                    log: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                )
                let decoder = LogDecoder(
                    LogDecoderOptions(isLive: true),
                    pseudonyms: FixedPseudonym(),
                    identityKey: EventText.identityKey
                )
                let intake = LogIntake<FilePosition>(
                    decoder,
                    origin: EventOrigin(.file, .log),
                    source: name,
                    isPlaced: saved != nil,
                    writer: pipeline.writer,
                    stop: stop
                )
                running = Task { [source, stop] in await source.run(intake, stop: stop) }
            }

            func end() async {
                stop.request()
                source.wake()
                await running.value
            }
        }

        static func lines(_ range: Range<Int>) -> [UInt8] {
            let padding = String(repeating: "x", count: 100)
            return Array(range.map { EventText.scheduled("cycle-\($0)-\(padding)") + "\n" }.joined().utf8)
        }

        @Test("a followed file in the service skips and repeats nothing while the disk is full")
        func followedSourceFullDisk() async throws {
            let disk = try SmallDisk()
            let logs = try TemporaryDirectory()
            let path = logs.file("device.log")
            let pipeline = try Pipeline(in: disk.directory)
            let filler = disk.directory.file("filler")
            try Files.write(Self.lines(0..<10), to: path)
            let following = try await Following(path, pipeline)
            await waitUntil("the first lines are counted") { pipeline.page.scheduled == 10 }

            try Files.write([UInt8](repeating: 1, count: 420_000), to: filler)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(Self.lines(10..<6_000)))
            following.source.wake()
            await waitUntil("the disk is full") { pipeline.writer.statistics.failedGroups > 0 }
            #expect(pipeline.page.scheduled == 10)

            try FileManager.default.removeItem(atPath: filler)
            try Program.run("/bin/mount", ["-o", "remount,size=16m", disk.directory.path])
            await waitUntil("the rest is counted") { pipeline.page.scheduled == 6_000 }
            #expect(pipeline.page.duplicates == 0)
            #expect(pipeline.page[#"dnp_telemetry_log_lines_total{result="recognised"}"#] == 6_000)
            await following.end()
            try await pipeline.close()
        }

        @Test(
            "a followed file in the service stands in the ledger with its position when it is stopped, and goes on there"
        )
        func stopped() async throws {
            let directory = try TemporaryDirectory()
            let logs = try TemporaryDirectory()
            let path = logs.file("device.log")
            var pipeline = try Pipeline(in: directory)
            try Files.write(Self.lines(0..<10) + Array("foreign\ncut".utf8), to: path)
            var following = try await Following(path, pipeline)
            await waitUntil("the lines are counted") { pipeline.page.scheduled == 10 }
            await following.end()
            #expect(pipeline.page[#"dnp_telemetry_log_lines_total{result="foreign"}"#] == 1)
            try await pipeline.close()

            pipeline = try Pipeline(in: directory)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(" off\n".utf8) + Data(Self.lines(10..<12)))
            following = try await Following(path, pipeline)
            await waitUntil("the new lines are counted") { pipeline.page.scheduled == 12 }
            await following.end()
            #expect(pipeline.page.duplicates == 0)
            #expect(pipeline.page[#"dnp_telemetry_log_lines_total{result="foreign"}"#] == 2)
            #expect(pipeline.page[#"dnp_telemetry_log_lines_total{result="recognised"}"#] == 12)
            try await pipeline.close()
        }
    }
}

@Suite("What a followed file tells")
struct FollowNoticeTests {
    private static let refusal = FileProblem(description: "cannot read device.log: Permission denied")

    /// A tail that has read a file of three bytes.
    private static func reading() -> FileTail {
        var tail = FileTail(path: "/logs/device.log", position: nil, pseudonyms: SumPseudonym())
        tail.look(.file(file(1)), now: 0)
        tail.opened(file(1), mark: ContentMark())
        let seen = ReadObservation(bytes: Array("ab\n".utf8), status: file(1), mark: ContentMark())
        tail.took(seen, of: file(1).identity)
        return tail
    }

    private static func file(_ inode: UInt64) -> FileStatus {
        FileStatus(identity: FileIdentity(device: 1, inode: inode), size: 3, modified: Int64(inode))
    }

    @Test("the notice of a rotation comes once while the new file cannot be opened")
    func refusedAfterRotation() {
        var tail = Self.reading()
        for second in 1...5 as ClosedRange<Int64> {
            tail.look(.file(Self.file(2)), now: second * 2_000_000)
            requests: while true {
                switch tail.next() {
                case .survey: tail.surveyed([])
                case .open: tail.failedToOpen(Self.refusal)
                case .deliver: break
                case .read:
                    let mark = ContentMark(head: Array("ab\n".utf8), tail: Array("ab\n".utf8))
                    tail.took(ReadObservation(bytes: [], status: Self.file(1), mark: mark), of: Self.file(1).identity)
                case .rest: break requests
                }
            }
        }
        #expect(tail.takeNotices() == [.rotated, .refused(Self.refusal)])
    }

    @Test("the notice of a problem of the directory has an end, and the next problem a beginning")
    func directoryProblem() {
        var tail = Self.reading()
        for second in stride(from: 2, to: 6, by: 2) as StrideTo<Int64> {
            tail.look(.refused(Self.refusal), now: second * 1_000_000)
            tail.look(.refused(Self.refusal), now: second * 1_000_000 + 1)
            tail.look(.file(Self.file(1)), now: (second + 1) * 1_000_000)
        }
        #expect(tail.takeNotices() == [.refused(Self.refusal), .readable, .refused(Self.refusal), .readable])
    }
}

@Suite("How long a source waits for the ledger")
struct SourcePauseTests {
    @Test(
        "a source waits for the ledger a second at most, whatever clients are asked for",
        arguments: [
            (.overloaded(retryAfter: .milliseconds(20)), .milliseconds(20)),
            (.overloaded(retryAfter: .seconds(60)), .seconds(1)),
            (.slow(retryAfter: .seconds(60)), .seconds(1)),
            (.failed(.full(detail: "")), .seconds(1)),
            (.stopped, nil),
        ] as [(SubmissionError, Duration?)]
    )
    func pause(error: SubmissionError, expected: Duration?) {
        #expect(error.pauseOfSources == expected)
    }
}

extension OneAtATime {
    @Suite("The watch over directories")
    struct DirectoryWatchTests {
        /// Runs the watch on a thread of its own; the gate is reached when it has ended.
        private static func run(_ watch: DirectoryWatch) -> Gate {
            let gate = Gate()
            gate.open()
            Thread.detachNewThread {
                watch.run()
                gate.pass()
            }
            return gate
        }

        @Test(
            "the directory watch wakes whoever follows a file there, at the start, for what happens and until it is stopped"
        )
        func wakes() async throws {
            let first = try TemporaryDirectory()
            let second = try TemporaryDirectory()
            let counts = Mutex([0, 0])
            let watch = DirectoryWatch([first.file("a.log"), second.file("b.log")]) { index in
                counts.withLock { $0[index] += 1 }
            }
            let hasEnded = Self.run(watch)
            await waitUntil("both are looked at once") { counts.withLock { $0.allSatisfy { $0 > 0 } } }
            for _ in 0..<3 {
                let before = counts.withLock { $0[0] }
                try Files.write([1], to: first.file("a.log"))
                await waitUntil("the change is told") { counts.withLock { $0[0] > before } }
            }
            watch.stop()
            await waitUntil("it ends") { hasEnded.isReached }
        }

        @Test("the directory watch looks at what cannot be watched, too")
        func absentDirectory() async throws {
            let count = Atomic(0)
            let watch = DirectoryWatch(["/nonexistent/device.log"]) { _ in count.add(1, ordering: .relaxed) }
            let hasEnded = Self.run(watch)
            await waitUntil("it is looked at again and again") { count.load(ordering: .relaxed) > 2 }
            watch.stop()
            await waitUntil("it ends") { hasEnded.isReached }
        }
    }
}
