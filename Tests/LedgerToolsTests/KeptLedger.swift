// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import TelemetryEvents
import TestSupport

@testable import Collector
@testable import EventLedger
@testable import LedgerState
@testable import LedgerTools

/// A state directory with a ledger and a key, as a service leaves it.
struct KeptLedger {
    let directory: TemporaryDirectory

    init(in directory: TemporaryDirectory) {
        self.directory = directory
    }

    /// Submits each of the lists of lines as a batch, then a tick, and closes the ledger.
    init(_ batches: [[String]] = []) async throws {
        directory = try TemporaryDirectory()
        _ = try InstallationKey(directory: directory.path)
        let pipeline = try Pipeline(in: directory)
        for lines in batches {
            _ = try await pipeline.submit(lines)
            pipeline.clock.advance(seconds: 1)
        }
        if !batches.isEmpty { try await pipeline.tick() }
        try await pipeline.close()
    }

    /// Submissions of chance, with restarts and crashes between them.
    ///
    /// - Parameter console: gets what the console shows; without one no index is kept.
    init(seed: UInt64, submissions: Int = 120, console: ConsoleFeed? = nil) async throws {
        var directory = try TemporaryDirectory()
        _ = try InstallationKey(directory: directory.path)
        let clock = ManualClock()
        var pipeline = try Pipeline(in: directory, clock: clock, console: console)
        var workload = Workload(seed: seed, cycles: 20)
        for _ in 0..<submissions {
            clock.advance(seconds: workload.pause())
            if workload.happens(onceIn: 4) { try await pipeline.tick() }
            _ = try await pipeline.writer.submit(workload.next())
            guard workload.happens(onceIn: 20) else { continue }
            if workload.happens(onceIn: 2) { directory = try directory.crashImage() }
            try await pipeline.close()
            pipeline = try Pipeline(in: directory, clock: clock, console: console)
        }
        try await pipeline.close()
        self.directory = directory
    }

    var path: String { directory.path }

    /// Runs statements on the database, as a tool that knows nothing of checksums would.
    func execute(_ statements: String...) throws {
        let connection = try LedgerConnection(
            path: directory.file("ledger.sqlite"),
            readOnly: false,
            setUp: statements
        )
        try connection.close()
    }

    /// Changes one byte of the first place in the file where some text stands.
    func flip(_ text: String) throws {
        var bytes = try Files.read(directory.file("ledger.sqlite"))
        guard let range = Data(bytes).range(of: Data(text.utf8)) else { throw NotFound(text: text) }
        bytes[range.lowerBound] ^= 0x20
        try Files.write(bytes, to: directory.file("ledger.sqlite"))
    }

    struct NotFound: Error {
        let text: String
    }

    /// Writes pages into the checkpoint, with right checksums.
    func overwrite(_ changes: StateChanges) throws {
        let ledger = try EventLedger.open(directory: path, durability: .process, now: startOfTest).ledger
        let position = try ledger.reader.position(of: LedgerProjection.name)?.position ?? .start
        try ledger.checkpoint(projection: LedgerProjection.name, at: position, changes: changes, now: startOfTest)
        try ledger.close()
    }

    /// What a dump prints.
    func dump(
        _ content: LedgerDump.Content = .events(nil),
        after: UInt64 = 0,
        limit: UInt64 = .max
    ) throws -> (lines: [String], warnings: [String], outcome: LedgerDump.Outcome) {
        let output = try TemporaryDirectory()
        try Files.write([], to: output.file("dump"))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output.file("dump")))
        var warnings: [String] = []
        let outcome = try LedgerDump(stateDirectory: path, content, after: after, limit: limit).print(
            to: file.fileDescriptor,
            warn: { warnings.append($0) }
        )
        try file.close()
        let text = String(decoding: try Files.read(output.file("dump")), as: UTF8.self)
        return (text.split(separator: "\n").map(String.init), warnings, outcome)
    }
}
