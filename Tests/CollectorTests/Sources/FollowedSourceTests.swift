// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import Logging
import MetricsRegistry
import NIOPosix
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

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

    @Test("skips and repeats nothing while the disk is full")
    func fullDisk() async throws {
        let disk = try SmallDisk()
        let logs = try TemporaryDirectory()
        let path = logs.file("device.log")
        let pipeline = try Pipeline(in: disk.directory)
        let filler = disk.directory.file("filler")
        try Files.write(Self.lines(0..<10), to: path)
        let following = try await Following(path, pipeline)
        await waitUntil("the first lines are counted") { pipeline.page.scheduled == 10 }

        try Files.write([UInt8](repeating: 1, count: 600_000), to: filler)
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

    @Test("stands in the ledger with its position when it is stopped, and goes on there")
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
