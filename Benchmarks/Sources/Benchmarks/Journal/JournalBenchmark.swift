// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Entries confirmed by reading back, against a C loop of sd_journal_sendv(3) that confirms nothing; both by turns on
/// new, empty journals.
enum JournalBenchmark: Benchmark {
    static let name = "journal"
    private static let entries: UInt64 = 100_000
    private static let turns = 3
    private static let work = "journal entries of 12 fields, confirmed by reading back"

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        if let reason = room.options.withoutJournal { return [.notMeasured(work, because: reason)] }
        guard !room.options.journalPeer.isEmpty else { throw BenchmarkFailure("no --journal-peer was named") }
        var ours: [Double] = []
        var peer: [Double] = []
        for _ in 0..<turns {
            peer.append(try sendvRate(room))
            ours.append(try confirmedRate())
        }
        return [
            Row(
                work,
                "entries/s",
                ours,
                target: .atLeast(1.5),
                peer: Row.Peer("C loop of sd_journal_sendv", peer),
                targetIsRatio: true
            )
        ]
    }

    private static func confirmedRate() throws -> Double {
        let journald = try PrivateJournald()
        return try withExtendedLifetime(journald) {
            let watch = Stopwatch()
            try ConfirmedDelivery.deliver(upTo: entries)
            return Double(entries) / watch.seconds
        }
    }

    /// Entries a second as the C program prints them.
    private static func sendvRate(_ room: BenchmarkRoom) throws -> Double {
        let journald = try PrivateJournald()
        return try withExtendedLifetime(journald) {
            let output = "\(room.options.workDirectory)/sendv"
            let loop = try ChildProcess([room.options.journalPeer, "\(entries)"], output: output)
            guard loop.wait() == 0 else { throw BenchmarkFailure("\(room.options.journalPeer) failed") }
            let text = try String(contentsOfFile: output, encoding: .utf8)
            let words = text.split(whereSeparator: { $0 == " " || $0 == "," })
            guard let unit = words.firstIndex(of: "entries/s"), unit > 0, let rate = Double(words[unit - 1]) else {
                throw BenchmarkFailure("the C loop printed \(text)")
            }
            return rate
        }
    }
}
