// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import TextOutput

/// What the service has done up to a moment, as far as its status line tells of it.
struct ServiceReading: Equatable, Sendable {
    /// Nanoseconds of CLOCK_MONOTONIC.
    var time: UInt64
    /// Events stored since the start.
    var events: UInt64
    /// Requests turned away since the start because of the ledger: too much waited, it was slow, full or failed.
    var refused: UInt64
    /// Requests that wait for a commit.
    var waiting: Int
    /// Events that are not confirmed in the journal; nil where none is written.
    var journalBehind: UInt64?
    /// Why events cannot be stored at this moment.
    var trouble: LedgerError?
}

extension ServiceReading {
    /// The status line: rates since another reading, and what waits.
    func status(since last: ServiceReading) -> String {
        let seconds = Double(time - min(last.time, time)) / 1e9
        var parts = [rate(events, last.events, seconds) + " events/s", "\(waiting.grouped) waiting"]
        if let journalBehind { parts.append("journal \(journalBehind.grouped) behind") }
        if refused > last.refused { parts.append(rate(refused, last.refused, seconds) + " refused/s") }
        let line = parts.joined(separator: ", ")
        return trouble.map { "\($0.inShort), events are refused; \(line)" } ?? line
    }

    /// Whole numbers from 10 a second on, tenths below.
    private func rate(_ now: UInt64, _ before: UInt64, _ seconds: Double) -> String {
        guard seconds > 0, now > before else { return "0" }
        let rate = min(Double(now - before) / seconds, 1e15)
        guard rate < 9.95 else { return Int64(rate.rounded()).grouped }
        let tenths = max(1, Int((rate * 10).rounded()))
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension LedgerError {
    /// A few words for a status line.
    fileprivate var inShort: String {
        switch self {
        case .full: "no space left for the ledger"
        case .busy: "another connection keeps the ledger busy"
        case .corrupt, .damagedBatch, .damagedState: "the ledger is damaged"
        case .locked, .newerSchema, .absent, .refused, .other: "the ledger fails"
        }
    }
}
