// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState

/// Checks that the journal holds every confirmed event once, as far back as it goes.
struct JournalCheck {
    private(set) var check = LedgerCheck(.journal)
    private let confirmed: UInt64
    private let skipped: UInt64
    private let lives: [LedgerLife]

    /// - Parameters:
    ///   - reader: the ledger.
    ///   - lives: its lives.
    ///   - reached: the journal's position before it is read here.
    ///   - location: the journal to read.
    init(
        of reader: LedgerReader,
        _ lives: [LedgerLife],
        _ reached: DeliveryProgress.Reached?,
        in location: JournalLocation,
        progress: (LedgerProgress) -> Void
    ) throws(LedgerError) {
        confirmed = reached?.position.sequence ?? 0
        skipped = reached?.skipped ?? 0
        self.lives = lives
        let census: JournalCensus
        do throws(JournalReaderError) {
            census = try JournalCensus.settled(upTo: confirmed) { (usesIndex) throws(JournalReaderError) in
                try JournalCensus(of: lives, in: location, usesIndex: usesIndex, progress: progress)
            }
        } catch {
            skip("\(error)")
            return
        }
        judge(census, location)
        addHistory(census)
        let end = try reader.statistics().end.sequence
        if let last = census.present.last, last > end {
            check.fail(
                "the journal holds numbers up to \(last), and the ledger ends at \(end): was it replaced by an older copy?"
            )
        }
    }

    /// The result where no journal is read.
    static func skipped(_ why: String) -> LedgerCheck {
        var check = LedgerCheck(.journal)
        check.result = .skipped
        check.sentence = why
        return check
    }

    private mutating func skip(_ why: String) {
        check = Self.skipped(why)
    }

    private mutating func judge(_ census: JournalCensus, _ location: JournalLocation) {
        guard let first = census.present.first?.lowerBound, let last = census.present.last else {
            return skip(
                "\(location) holds no entry of this ledger; it has confirmed \(confirmed - min(skipped, confirmed))"
            )
        }
        guard census.isComplete else {
            return skip("the numbers in \(location) are in no order that could be followed")
        }
        check.add("entries", census.entries)
        check.add("first", first)
        check.add("last", last)
        check.add("confirmed", confirmed)
        check.sentence = "\(census.entries) entries, numbers \(first) to \(last), confirmed up to \(confirmed)"
        if first > 1 { check.sentence += "; older ones are not in the journal any more" }
        if census.unindexed > 0 {
            check.add("unindexed", census.unindexed)
            check.sentence +=
                "; \(census.unindexed) are in its files and not in their index, so journalctl -t omits them"
        }
        addMissing(census.missing(upTo: confirmed))
        for range in census.repetitions {
            check.fail("\(Self.text(range)) more than once")
        }
    }

    /// What stands in the journal under a life's id and is not the ledger's: it was lost with the end of that life.
    private mutating func addHistory(_ census: JournalCensus) {
        guard !census.history.isEmpty else { return }
        check.add("history", census.history.values.reduce(0) { $0 + $1.entries })
        for (life, next) in zip(lives, lives.dropFirst()) {
            guard let history = census.history[life.id] else { continue }
            check.sentence +=
                "; \(history.entries) entries of life \(life.id), up to number \(history.last), are not the ledger's"
            if history.last > next.acknowledged.sequence {
                check.fail(
                    "the journal holds numbers up to \(history.last) of life \(life.id), of which the ledger knows "
                        + "up to \(max(next.acknowledged.sequence, next.after.sequence)): the next start counts what is missing"
                )
            }
        }
    }

    /// Skipped events are missing legitimately; their number is known, but not which they are.
    private mutating func addMissing(_ missing: [ClosedRange<UInt64>]) {
        let count = missing.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 }
        guard count > 0 else { return }
        check.add("missing", count)
        if count <= skipped {
            check.sentence += "; \(count) are missing, and \(skipped) were skipped"
            return
        }
        for range in missing { check.fail("\(Self.text(range)) missing") }
    }

    private static func text(_ range: ClosedRange<UInt64>) -> String {
        range.count == 1
            ? "number \(range.lowerBound) is" : "numbers \(range.lowerBound) to \(range.upperBound) are"
    }
}

/// The sequence numbers of a ledger that a journal holds.
struct JournalCensus {
    /// The counted entries.
    private(set) var entries: UInt64 = 0
    /// The numbers found.
    private(set) var present = SequenceRanges()
    /// How many of the numbers are in the journal's files and not in their index.
    private(set) var unindexed: UInt64 = 0
    private var repeated = SequenceRanges()
    /// The entries under a former life's id whose numbers are behind that life, and the last number of each.
    private(set) var history: [String: (entries: UInt64, last: UInt64)] = [:]
    /// Whether all numbers fitted into the bounded ranges, which only a very unusual order of entries prevents.
    private(set) var isComplete = true
    /// The number of the journal's oldest entry.
    private var head: UInt64?
    /// What stood before this number was deleted by the journal while it was read.
    private var floor: UInt64 = 0

    mutating func note(_ sequence: UInt64) {
        if head == nil { head = sequence }
        entries += 1
        let isNew = !present.contains(sequence)
        if isNew {
            if !present.insert(sequence...sequence) { isComplete = false }
        } else if !repeated.insert(sequence...sequence) {
            isComplete = false
        }
    }

    /// Adds the missing numbers that a census of every entry has found.
    mutating func addUnindexed(of whole: JournalCensus, upTo last: UInt64) {
        for gap in missing(upTo: last) {
            for range in whole.present.elements where range.overlaps(gap) {
                let found = range.clamped(to: gap)
                if !present.insert(found) { isComplete = false }
                unindexed += found.upperBound - found.lowerBound + 1
            }
        }
        entries += unindexed
    }

    /// The numbers found more than once.
    var repetitions: [ClosedRange<UInt64>] { Array(repeated.elements) }

    /// The numbers not found, from the first found one up to `last`.
    func missing(upTo last: UInt64) -> [ClosedRange<UInt64>] {
        var missing: [ClosedRange<UInt64>] = []
        guard var end = present.first?.upperBound else { return [] }
        for range in present.elements.dropFirst() where end < last {
            missing.append(end + 1...min(range.lowerBound - 1, last))
            end = range.upperBound
        }
        if end < last { missing.append(end + 1...last) }
        return missing.compactMap { $0.upperBound < floor ? nil : max($0.lowerBound, floor)...$0.upperBound }
    }
}

extension JournalCensus {
    /// Counts the entries as the delivery confirms them and `journalctl -t` lists them; where numbers are missing there, the
    /// whole journal is searched for them.
    ///
    /// journald may rotate and delete files while they are read: a file that is renamed just then is not seen, and one that
    /// is deleted is seen in part. So what is missing is looked for again in a journal opened anew, and what stood before the
    /// oldest entry that is left then was deleted.
    ///
    /// - Parameter read: counts the entries of a journal opened anew, by its index or all of them.
    static func settled(
        upTo last: UInt64,
        _ read: (_ usesIndex: Bool) throws(JournalReaderError) -> JournalCensus
    ) throws(JournalReaderError) -> JournalCensus {
        var census = try read(true)
        if !census.missing(upTo: last).isEmpty { census.add(try read(true)) }
        guard !census.missing(upTo: last).isEmpty else { return census }
        census.addUnindexed(of: try read(false), upTo: last)
        if !census.missing(upTo: last).isEmpty { census.add(try read(true)) }
        return census
    }

    /// Adds what a later census has found.
    private mutating func add(_ later: JournalCensus) {
        for range in later.present.elements where !present.insert(range) { isComplete = false }
        for range in later.repeated.elements where !repeated.insert(range) { isComplete = false }
        if !later.isComplete { isComplete = false }
        entries = max(entries, later.entries + unindexed)
        history.merge(later.history) { (max($0.entries, $1.entries), max($0.last, $1.last)) }
        // An empty journal has deleted everything.
        if later.head != head { floor = later.head ?? .max }
        head = later.head
    }
}

extension JournalCensus {
    /// Counts the entries of a ledger.
    ///
    /// - Parameters:
    ///   - lives: the lives of the ledger.
    ///   - usesIndex: whether to look them up by their identifier in the journal's index. A journald killed while
    ///     appending can leave an entry readable but not indexed; without the index every entry of the journal is read.
    init(
        of lives: [LedgerLife],
        in location: JournalLocation,
        usesIndex: Bool,
        progress: (LedgerProgress) -> Void
    ) throws(JournalReaderError) {
        let reader = try JournalReader(location, scope: [.localOnly])
        let ids = lives.map { Array($0.id.utf8) }
        if usesIndex { try reader.setMatches([.equal(.syslogIdentifier, JournalEntryNames.identifier)]) }
        try reader.seekToHead()
        var reached = LedgerProgress()
        reached.stage = usesIndex ? "journal" : "journal, every entry"
        while try reader.next() {
            reached.events += 1
            if reached.events.isMultiple(of: 1_024) { progress(reached) }
            guard let id = try reader.value(of: JournalEntryNames.ledgerField), let index = ids.lastIndex(of: id),
                let sequence = try reader.number(of: JournalEntryNames.sequenceField)
            else { continue }
            if index + 1 < lives.count, sequence > lives[index + 1].after.sequence {
                let known = history[lives[index].id] ?? (0, 0)
                history[lives[index].id] = (known.entries + 1, max(known.last, sequence))
            } else {
                note(sequence)
            }
        }
    }
}
