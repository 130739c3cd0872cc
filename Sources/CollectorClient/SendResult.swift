// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
internal import TextOutput

/// The outcome of sending an input.
package struct SendResult: Sendable {
    /// How it ended.
    package enum Ending: Equatable, Sendable {
        /// All of it was sent.
        case complete
        /// Ctrl-C ended it; what had been read was sent.
        case interrupted
        /// The input could not be read to its end.
        case unreadable(String)
        /// The collector could not be reached in time.
        case unreachable(String)
        /// The collector refused a batch.
        case refused(String)
    }

    /// How many different notes are kept.
    private static let mostNotes = 8

    /// How it ended.
    package internal(set) var ending = Ending.complete
    /// Events that the collector stored.
    package internal(set) var accepted: UInt64 = 0
    /// Events that the collector already had.
    package internal(set) var duplicates: UInt64 = 0
    /// Rejected events.
    package internal(set) var rejected: UInt64 = 0
    /// The first of them.
    package internal(set) var rejections: [SendRejection] = []
    /// Batches that were acknowledged.
    package internal(set) var batches = 0
    /// Attempts beyond the first of each batch.
    package internal(set) var retries = 0
    /// What the collector notes about the events that it stored.
    package internal(set) var notes: [String] = []
    /// The lines of a log; all zero for other inputs.
    var lines = LogLineCounts()

    /// Lines of the plugin that match no rule.
    package var unrecognisedLines: UInt64 { lines.unrecognised }

    mutating func add(_ receipt: BatchOutcome.Receipt, of batch: SendBatch) {
        batches += 1
        accepted += receipt.accepted
        duplicates += receipt.duplicates
        rejected += receipt.rejectedTotal
        for rejection in receipt.rejected.prefix(SendAccount.namedRejections - rejections.count) {
            rejections.append(SendRejection(place: batch.place(of: rejection.index), reason: rejection.reason))
        }
        for note in receipt.notes ?? [] where notes.count < Self.mostNotes && !notes.contains(note) {
            notes.append(note)
        }
        guard let read = receipt.lines else { return }
        lines.read += read.read
        lines.recognised += read.recognised
        lines.foreign += read.foreign
        lines.unrecognised += read.unrecognised
    }

    mutating func add(_ account: SendAccount, _ decoded: LogLineCounts) {
        lines += decoded
        rejected += account.rejected
        rejections += account.rejections.prefix(SendAccount.namedRejections - rejections.count)
    }
}

/// A rejected event.
package struct SendRejection: Hashable, Sendable {
    /// Its place in the input: "line 17".
    package var place: String
    /// What was expected and what was found.
    package var reason: String
}

extension SendResult {
    /// The counts on a line, and the first rejections below.
    package func text(quiet: Bool) -> String {
        var text = "\(accepted) accepted, \(duplicates) duplicate, \(rejected) rejected\n"
        if quiet { return text }
        for rejection in rejections { text += "  \(rejection.place): \(PlainText.line(rejection.reason))\n" }
        let more = rejected - UInt64(rejections.count)
        if more > 0, !rejections.isEmpty { text += "  and \(more) more\n" }
        return text
    }

    /// One object with everything.
    package func json() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("ending")
            json.value(ending.word)
            json.name("problem")
            json.value(ending.problem)
            for (name, count) in [
                ("accepted", accepted), ("duplicates", duplicates), ("rejected", rejected),
                ("batches", UInt64(batches)), ("retries", UInt64(retries)),
            ] {
                json.name(name)
                json.value(count)
            }
            json.name("rejections")
            json.array { json in
                for rejection in rejections {
                    json.object { json in
                        json.name("place")
                        json.value(rejection.place)
                        json.name("reason")
                        json.value(rejection.reason)
                    }
                }
            }
            json.name("lines")
            json.object { json in
                for (name, count) in [
                    ("read", lines.read), ("recognised", lines.recognised), ("foreign", lines.foreign),
                    ("unrecognised", lines.unrecognised),
                ] {
                    json.name(name)
                    json.value(count)
                }
            }
        }
        return json.bytes + Array("\n".utf8)
    }
}

extension SendResult.Ending {
    /// The ending as `--format json` names it.
    var word: String {
        switch self {
        case .complete: "complete"
        case .interrupted: "interrupted"
        case .unreadable: "unreadable"
        case .unreachable: "unreachable"
        case .refused: "refused"
        }
    }

    /// What went wrong, in words.
    package var problem: String? {
        switch self {
        case .complete, .interrupted: nil
        case .unreadable(let words), .unreachable(let words), .refused(let words): words
        }
    }
}

/// The lines of an input, and the events that were rejected before sending.
struct SendAccount: Sendable {
    /// How many rejected events are listed.
    static let namedRejections = 10

    var lines: UInt64 = 0
    var rejected: UInt64 = 0
    private(set) var rejections: [SendRejection] = []

    mutating func note(_ place: String, _ reason: String) {
        guard rejections.count < Self.namedRejections else { return }
        rejections.append(SendRejection(place: place, reason: reason))
    }
}
