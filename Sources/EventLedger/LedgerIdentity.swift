// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// A ledger's lives and how far the newest one may be in the journal by right; what of it is not stored yet goes into
/// the next transaction.
///
/// Storing waits for the first batch where the disk is full at the start, and no number of a life is given before the
/// life is stored with it. So an end of the process at any point leaves either the evidence, from which the next start
/// begins the life again under another id, or the life.
struct LedgerIdentity: Sendable {
    /// The ledger's id, which stays.
    let id: String
    let createdAt: Int64
    private(set) var lives: [LedgerLife]
    /// The life that this opening began; nil when nothing was found.
    private(set) var renewal: LedgerLife?
    /// The last number that may stand in the journal under the newest life's id, until the journal was compared.
    private(set) var comparable: UInt64
    private var storedLives: Int
    /// The stored `comparable`; nil while every number may have been sent.
    private var storedComparable: UInt64?
    private var isCompared = false
    /// Whether the database says that there is a mark.
    private(set) var isMarkStored: Bool

    /// Reads the identity of a ledger that ends at `end`.
    init(from database: Database, end: LedgerPosition) throws(LedgerError) {
        let meta = MetaTable(database)
        (id, createdAt) = try meta.identity()
        lives = try LifeTable(database).all()
        guard !lives.isEmpty else { throw .corrupt(detail: "the ledger has no life") }
        storedLives = lives.count
        (storedComparable, isMarkStored) = try meta.witnesses()
        comparable = min(storedComparable ?? end.sequence, end.sequence)
    }

    /// The newest life.
    var current: LedgerLife { lives[lives.count - 1] }

    /// Whether the table of lives has all of them.
    var hasStoredLives: Bool { storedLives == lives.count }

    /// Whether the next transaction has nothing to store.
    func isStored(isMarked: Bool) -> Bool {
        hasStoredLives && (isCompared || storedComparable != nil) && (isMarkStored || !isMarked)
    }

    // MARK: Lives

    /// Begins a life when the mark shows that numbers of this ledger could be given twice.
    mutating func compare(with mark: LedgerMark.Reading, end: LedgerPosition, now: Int64) {
        switch mark {
        case .absent:
            guard isMarkStored else { return }
            beginUncompared(end: end, now: now)
            begin(.unmarked, after: end, acknowledged: .start, now: now)
        case .unreadable:
            beginUncompared(end: end, now: now)
            begin(.unmarked, after: end, acknowledged: .start, now: now)
        case .read(let life, let position):
            guard isNews(position, of: life, end: end) else { return }
            beginUncompared(end: end, now: now)
            begin(.mark, after: end, acknowledged: position, now: now)
        }
        renewal = current
    }

    /// Begins a life for the numbers that were given before the journal could be compared: none of them was sent there, and
    /// it may hold other events under the former id. What is begun next is after the end, and would hide that.
    ///
    /// Nothing tells a life that was never compared from one that was and then lost all of its events.
    private mutating func beginUncompared(end: LedgerPosition, now: Int64) {
        let last = max(comparable, current.after.sequence)
        guard last < end.sequence else { return }
        begin(.uncompared, after: LedgerPosition(batch: 0, sequence: last), acknowledged: .start, now: now)
    }

    /// Whether a mark shows what the ledger and its lives do not have.
    private func isNews(_ position: LedgerPosition, of life: String, end: LedgerPosition) -> Bool {
        guard let index = lives.lastIndex(where: { $0.id == life }) else { return position != .start }
        guard position.batch > end.batch || position.sequence > end.sequence else { return false }
        // That life was begun because of the mark, and the process ended before the mark was written again.
        guard let known = lives.begun(byMarkOf: index)?.acknowledged else { return true }
        return position.batch > known.batch || position.sequence > known.sequence
    }

    /// Begins a life because the journal holds numbers up to `shown` that this ledger never gave.
    mutating func begin(after sequence: UInt64, shown: UInt64, now: Int64) -> LedgerLife {
        begin(
            .journal,
            after: LedgerPosition(batch: 0, sequence: max(sequence, current.after.sequence)),
            acknowledged: LedgerPosition(batch: 0, sequence: shown),
            now: now
        )
        return current
    }

    private mutating func begin(
        _ reason: LedgerLife.Reason,
        after end: LedgerPosition,
        acknowledged: LedgerPosition,
        now: Int64
    ) {
        lives.append(
            LedgerLife(
                number: current.number + 1,
                id: LedgerLife.makeID(),
                after: end,
                startedAt: now,
                reason: reason,
                acknowledged: acknowledged
            )
        )
    }

    /// Records that the life with an id had given numbers up to `sequence`; true when that was not known.
    ///
    /// Only what a later life has replaced can be missing.
    mutating func showed(_ id: String, upTo sequence: UInt64) -> Bool {
        guard let index = lives.lastIndex(where: { $0.id == id }), index + 1 < lives.count,
            sequence > lives[index + 1].acknowledged.sequence
        else { return false }
        lives[index + 1].acknowledged.sequence = sequence
        storedLives = min(storedLives, index + 1)
        return true
    }

    /// Records that the journal holds no number under the newest life's id that this ledger did not give; true when that
    /// has to be stored, before anything is sent to the journal.
    mutating func compared() -> Bool {
        isCompared = true
        return storedComparable != nil || !hasStoredLives
    }

    // MARK: Storing

    /// Writes what is not stored yet.
    func store(in database: Database, isMarked: Bool) throws(LedgerError) {
        let table = LifeTable(database)
        for life in lives[storedLives...] { try table.put(life) }
        try MetaTable(database).setWitnesses(
            comparable: isCompared ? nil : comparable,
            isMarked: isMarkStored || isMarked
        )
    }

    /// Records that the transaction of ``store(in:isMarked:)`` is committed.
    mutating func stored(isMarked: Bool) {
        storedLives = lives.count
        storedComparable = isCompared ? nil : comparable
        isMarkStored = isMarkStored || isMarked
    }
}
