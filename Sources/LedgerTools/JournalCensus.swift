// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState

/// Which numbers of a ledger a journal holds.
struct JournalCensus {
    /// The entries that were counted.
    private(set) var entries: UInt64 = 0
    /// The numbers that are there.
    private(set) var present = SequenceRanges()
    private var repeated = SequenceRanges()
    /// Whether everything could be remembered; the order of the entries would have to be very odd.
    private(set) var isComplete = true

    mutating func note(_ sequence: UInt64) {
        entries += 1
        let isNew = !present.contains(sequence)
        if isNew {
            if !present.insert(sequence...sequence) { isComplete = false }
        } else if !repeated.insert(sequence...sequence) {
            isComplete = false
        }
    }

    /// The numbers that are there more than once.
    var repetitions: [ClosedRange<UInt64>] { Array(repeated.elements) }

    /// The numbers that are not there, from the first one that is there up to `last`.
    func missing(upTo last: UInt64) -> [ClosedRange<UInt64>] {
        var missing: [ClosedRange<UInt64>] = []
        guard var end = present.first?.upperBound else { return [] }
        for range in present.elements.dropFirst() where end < last {
            missing.append(end + 1...min(range.lowerBound - 1, last))
            end = range.upperBound
        }
        if end < last { missing.append(end + 1...last) }
        return missing
    }
}

extension JournalCensus {
    /// Counts the entries of a ledger.
    ///
    /// - Parameter usesIndex: whether the journal's index finds them. A journald that was killed while it appended an
    ///   entry can leave it readable and not in the index; without it every entry of the journal is looked at.
    init(
        of ledger: String,
        in location: JournalLocation,
        usesIndex: Bool,
        progress: (LedgerProgress) -> Void
    ) throws(JournalReaderError) {
        let reader = try JournalReader(location, scope: [.localOnly])
        let id = Array(ledger.utf8)
        if usesIndex { try reader.setMatches([.equal(JournalProgress.ledgerField, id)]) }
        try reader.seekToHead()
        var reached = LedgerProgress()
        reached.stage = usesIndex ? "journal" : "journal, every entry"
        while try reader.next() {
            reached.events += 1
            if reached.events.isMultiple(of: 1_024) { progress(reached) }
            if !usesIndex, try reader.value(of: JournalProgress.ledgerField) != id { continue }
            if let sequence = try reader.number(of: JournalProgress.sequenceField) { note(sequence) }
        }
    }
}
