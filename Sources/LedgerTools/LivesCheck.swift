// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import TextOutput

/// Checks that nothing that was acknowledged is missing, as far as the mark beside the database and the ledger's lives
/// show it.
struct LivesCheck {
    private(set) var check = LedgerCheck(.lives)

    /// - Parameters:
    ///   - lives: the ledger's lives, the newest last.
    ///   - acknowledged: what the mark shows, read before the ledger's end.
    ///   - end: the ledger's end.
    init(_ lives: [LedgerLife], _ acknowledged: LedgerAcknowledgement, end: LedgerPosition) {
        check.add("lives", UInt64(clamping: lives.last?.number ?? 0))
        check.add("missing", lives.reduce(0) { $0 &+ $1.missingEvents })
        check.sentence = "one life"
        if lives.count > 1, let newest = lives.last {
            check.sentence =
                "\(newest.number) lives; the newest, \(newest.id), began after number \(newest.after.sequence)"
            if newest.reason == .unmarked { check.sentence += ", because ledger.mark was missing or unreadable" }
        }
        for index in lives.indices.dropFirst() {
            // Its numbers were given under another id before.
            let former = lives[..<index].last { $0.reason != .uncompared } ?? lives[index - 1]
            add(lives[index], former)
        }
        compare(acknowledged, lives, end)
    }

    private mutating func add(_ life: LedgerLife, _ former: LedgerLife) {
        guard life.missingEvents > 0 || life.missingBatches > 0 else { return }
        let witness = life.witness == .journal ? "the journal" : "the mark"
        let numbers =
            life.missingEvents > 0
            ? "numbers \(life.after.sequence + 1) to \(life.acknowledged.sequence) of life \(former.id)"
            : "\(life.missingBatches) batches without events"
        check.fail("\(life.missingEvents) acknowledged events are missing: \(numbers), as \(witness) showed")
    }

    private mutating func compare(
        _ acknowledged: LedgerAcknowledgement,
        _ lives: [LedgerLife],
        _ end: LedgerPosition
    ) {
        switch acknowledged {
        case .never: break
        case .absent: check.fail("ledger.mark is missing: nothing shows whether acknowledged events are missing")
        case .unreadable: check.fail("ledger.mark is cut or its checksum is wrong")
        case .read(let life, let position):
            guard let index = lives.lastIndex(where: { $0.id == life }) else {
                guard position != .start else { return }
                return check.fail("ledger.mark is of life \(PlainText.line(life)), which this ledger has not had")
            }
            let known = lives.begun(byMarkOf: index)?.acknowledged ?? end
            let isCovered = position.batch <= known.batch && position.sequence <= known.sequence
            guard position.batch > end.batch || position.sequence > end.sequence, !isCovered else { return }
            let missing = position.sequence - min(end.sequence, position.sequence)
            check.add("unrecorded", missing)
            check.fail(
                "\(missing) acknowledged events are missing: the ledger ends at \(end), and its mark shows \(position)"
            )
        }
    }
}
