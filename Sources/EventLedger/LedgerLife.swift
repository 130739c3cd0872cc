// SPDX-License-Identifier: Apache-2.0

/// A stretch of a ledger's numbers under one identity.
///
/// A ledger that may give numbers which it has given before, because an older copy of it was put back or the end of its
/// log was lost, continues as a new life. An event is identified by the id of its life and its number, so that a number
/// given twice stands for two events.
public struct LedgerLife: Hashable, Sendable {
    /// What showed that numbers could be given twice.
    public enum Reason: String, Sendable, CaseIterable {
        /// Nothing: the ledger was created.
        case created
        /// The mark beside the database shows more than the database holds (``LedgerMark``).
        case mark
        /// The mark is missing or unreadable, so that nothing shows how far the ledger had acknowledged.
        case unmarked
        /// The journal holds numbers that the ledger never gave.
        case journal
        /// The numbers were given before the journal could be compared, and another life had to begin meanwhile.
        case uncompared
    }

    /// Its place among all lives of the ledger, from 1.
    public let number: Int64
    /// 32 hexadecimal digits.
    public let id: String
    /// Where the life before ends; the first number of this one follows. The batch is 0 where only numbers are known.
    public let after: LedgerPosition
    /// When it began, in microseconds since 1970 UTC.
    public let startedAt: Int64
    /// Why it began.
    public let reason: Reason
    /// The furthest position that the life before is known to have acknowledged; the start when nothing is known.
    public internal(set) var acknowledged: LedgerPosition

    /// How many acknowledged events of the life before the ledger does not hold.
    public var missingEvents: UInt64 {
        acknowledged.sequence > after.sequence ? acknowledged.sequence - after.sequence : 0
    }

    /// How many batches of the life before are missing, those without events included; 0 where only numbers are known.
    public var missingBatches: Int64 { max(0, acknowledged.batch - after.batch) }

    /// What shows the missing events: without a mark only the journal can.
    public var witness: Reason { reason == .unmarked || reason == .uncompared ? .journal : reason }

    /// A new id, from the system's random numbers.
    static func makeID() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension [LedgerLife] {
    /// The life that a mark of the one at an index has begun; nil where there is none yet. One for numbers that the journal
    /// was not compared for may be between the two.
    package func begun(byMarkOf index: Int) -> LedgerLife? { self[(index + 1)...].first { $0.reason != .uncompared } }
}

extension LedgerLife: CustomStringConvertible {
    /// What happened, for the log.
    public var description: String {
        let events = missingEvents == 1 ? "1 event" : "\(missingEvents) events"
        let batches = missingBatches == 1 ? "1 batch" : "\(missingBatches) batches"
        let what =
            switch reason {
            case .created:
                "the ledger was created"
            case .mark where missingEvents == 0 && missingBatches == 0:
                "the mark beside the ledger was written by another life of it"
            case .mark:
                "\(events) in \(batches) that were acknowledged are missing: the ledger ends at \(after), and the mark "
                    + "beside it shows \(acknowledged)"
            case .unmarked:
                "the ledger's mark is missing or unreadable, so that nothing shows whether acknowledged events are missing"
            case .uncompared:
                "the numbers after \(after.sequence) were given before the journal could be compared"
            case .journal:
                "the ledger is older than its journal: it had given numbers up to \(after.sequence), and the journal "
                    + "holds them up to \(acknowledged.sequence); \(events) that were acknowledged are missing"
            }
        return "\(what); the ledger's life \(id) begins after number \(after.sequence)"
    }
}
