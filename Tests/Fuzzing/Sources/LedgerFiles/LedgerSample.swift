// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Foundation
import LedgerState
import Logging
import TelemetryEvents

@testable import Collector

/// The files of a ledger with some batches and a checkpoint, as a close or a kill leaves them.
///
/// It is made anew in each process, so its random ids are others each time; where everything stands is always the same.
struct LedgerSample {
    enum File: String, CaseIterable {
        case database = "ledger.sqlite"
        case log = "ledger.sqlite-wal"
        case mark = "ledger.mark"
        case key = "installation.key"
    }

    /// A file that is not there has no bytes.
    struct Files {
        var bytes: [File: [UInt8]] = [:]

        fileprivate init(in directory: String) {
            for file in File.allCases {
                bytes[file] = FileManager.default.contents(atPath: "\(directory)/\(file.rawValue)").map { Array($0) }
            }
        }
    }

    let files: Files
    /// The batches that were written, by the number of their first event.
    let batches: [UInt64: LedgerBatch]

    static let (closed, killed): (LedgerSample, LedgerSample) = {
        do {
            return try make(in: Scratch.directory.appending(path: "sample").path)
        } catch {
            fatalError("cannot make a ledger: \(error)")
        }
    }()

    private static func make(in directory: String) throws -> (closed: LedgerSample, killed: LedgerSample) {
        let log = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        let now = receivedAt.microseconds
        let recovered = try RecoveredLedger(directory: directory, durability: .process, now: now, log)
        let ledger = recovered.ledger
        var projection = recovered.projection
        var batches: [UInt64: LedgerBatch] = [:]
        for number in 0..<4 {
            let batch = batch(of: number)
            batches[ledger.position.sequence + 1] = batch
            let position = try ledger.append([batch])
            guard number < 3 else { continue }
            try projection.apply(batch, at: position)
            guard number == 2 else { continue }
            var changes = projection.takeChanges(at: position)
            while !(try ledger.tidy(LedgerProjection.name)) {}
            while let part = changes.takePart(bytes: 64 << 10) { try ledger.stage(part, of: LedgerProjection.name) }
            try ledger.commitStage(of: LedgerProjection.name, at: position, now: now)
        }
        let killed = LedgerSample(files: Files(in: directory), batches: batches)
        try ledger.close()
        return (LedgerSample(files: Files(in: directory), batches: batches), killed)
    }

    /// Two events of a schedule.
    static func batch(of number: Int) -> LedgerBatch {
        let lines = ["prefetch_scheduled", "prefetch_success"].map { kind in
            #"{"event":"\#(kind)","id":"daily-\#(number)","timestamp":"2025-11-15T05:4\#(number):00Z","installationId":"phone"}"#
        }
        let decoded = decode(Array(lines.joined(separator: "\n").utf8), .lines)
        return LedgerBatch(
            receivedAt: receivedAt.microseconds + Int64(number) * 1_000_000,
            origin: 1,
            count: UInt32(decoded.events.count),
            receipt: IngestReceipt().encoded,
            events: decoded.events.bytes
        )
    }

    /// Writes files to a directory in which none of another input is left but the reserve, which takes time to allocate.
    static func write(_ files: Files, to directory: String) {
        let manager = FileManager.default
        do {
            try manager.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            for name in try manager.contentsOfDirectory(atPath: directory) where name != "ledger.reserve" {
                try manager.removeItem(atPath: "\(directory)/\(name)")
            }
            for (file, bytes) in files.bytes {
                let path = "\(directory)/\(file.rawValue)"
                try Data(bytes).write(to: URL(filePath: path))
                try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
        } catch {
            fatalError("cannot write the files of a ledger: \(error)")
        }
    }
}
