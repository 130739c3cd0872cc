// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Foundation
import LedgerState
import Logging

@testable import Collector

/// Opens the files of a ledger of which an input has changed some bytes: as the service does at its start, to a ledger with
/// which it can go on or with an error that says why not.
///
/// The first byte says whether the ledger was closed or its process killed.
enum LedgerFilesTarget: FuzzTarget {
    private static let directory = Scratch.directory.appending(path: "ledger").path
    private static let now: Int64 = 1_763_300_000_000_000

    static func check(_ input: [UInt8]) {
        var instructions = Instructions(input)
        let sample = instructions.byte() & 1 == 0 ? LedgerSample.closed : LedgerSample.killed
        var files = sample.files
        var changes = 0
        while !instructions.isEmpty, changes < 16 {
            changes += 1
            FileChange(&instructions).apply(to: &files)
        }
        LedgerSample.write(files, to: directory)
        guard let opened = open() else { return }
        if case .setAside(let path, _) = opened.opening { checkKept(files.bytes[.database] ?? [], at: path) }
        let isRead = checkBatches(of: opened.ledger, sample)
        checkAppended(to: opened.ledger, isRead: isRead)
    }

    private static func open() -> RecoveredLedger? {
        do {
            return try RecoveredLedger(
                directory: directory,
                durability: .process,
                hasConsole: true,
                now: now,
                Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
            )
        } catch {
            guard !"\(error)".isEmpty else { finding("an error without words") }
            return nil
        }
    }

    /// What is set aside is there as a whole.
    private static func checkKept(_ database: [UInt8], at path: String) {
        guard let kept = FileManager.default.contents(atPath: path), kept.count >= database.count else {
            finding("a damaged ledger that is not kept at \(path)")
        }
    }

    /// A batch that is read is one that was written.
    ///
    /// - Returns: whether all could be read.
    private static func checkBatches(of ledger: EventLedger, _ sample: LedgerSample) -> Bool {
        var last: Int64 = 0
        var reads = 0
        while true {
            reads += 1
            guard reads < 1_000 else { finding("\(reads) reads, and still at batch \(last)") }
            do throws(LedgerError) {
                let batches = try ledger.reader.read(afterBatch: last)
                guard let end = batches.last else { return true }
                guard end.id > last else { finding("batch \(end.id) after \(last)") }
                for stored in batches {
                    guard let written = sample.batches[stored.firstSequence] else { continue }
                    guard stored.batch.events == written.events, stored.batch.receipt == written.receipt else {
                        finding("batch \(stored.id) is another one than was written")
                    }
                }
                last = end.id
            } catch .damagedBatch(let id, let detail) {
                guard id > last, !detail.isEmpty else { finding("damaged batch \(id) after \(last)") }
                last = id
            } catch {
                return false
            }
        }
    }

    /// What is appended is there after the next start, and the ledger is not set aside then.
    private static func checkAppended(to ledger: EventLedger, isRead: Bool) {
        let batch = LedgerSample.batch(of: 9)
        let position: LedgerPosition
        do throws(LedgerError) {
            position = try ledger.append([batch])
            try ledger.close()
        } catch {
            try? ledger.close()
            return
        }
        guard let again = open() else { finding("a ledger that takes events and cannot be opened again") }
        defer { try? again.ledger.close() }
        guard case .opened = again.opening else { finding("a ledger that takes events, then: \(again.opening)") }
        guard isRead else { return }
        let stored = try? again.ledger.reader.read(afterBatch: position.batch - 1).first
        guard stored?.batch == batch, stored?.position == position else {
            finding(
                "batch \(position.batch) was acknowledged, and is \(stored.map { "\($0.position)" } ?? "not there")"
            )
        }
    }
}

/// A change of one of the files.
private struct FileChange {
    private let file: LedgerSample.File
    private let kind: UInt8
    private let offset: Int
    private let bytes: [UInt8]

    init(_ instructions: inout Instructions) {
        let choice = instructions.byte()
        file = LedgerSample.File.allCases[Int(choice >> 4) % LedgerSample.File.allCases.count]
        kind = choice & 7
        offset = instructions.number(bytes: 3)
        bytes = kind == 7 ? instructions.remaining : instructions.bytes(Int(instructions.byte() & 31) + 1)
        if kind == 7 { _ = instructions.bytes(.max) }
    }

    func apply(to files: inout LedgerSample.Files) {
        var content = files.bytes[file] ?? []
        let start = offset % (content.count + 1)
        switch kind {
        case 0...2: content.replaceSubrange(start..<min(start + bytes.count, content.count), with: bytes)
        case 3: content.removeSubrange(start...)
        case 4:
            content.replaceSubrange(
                start..<min(start + 4_096, content.count),
                with: repeatElement(bytes.first ?? 0, count: 4_096)
            )
        case 5: content += content[start...].prefix(16 << 10)
        case 6:
            files.bytes[file] = nil
            return
        default: content = bytes
        }
        files.bytes[file] = Array(content.prefix(1 << 20))
    }
}
