// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents
internal import TextOutput

/// Checks whether a ledger is sound and its sums add up (docs/ledger.md), also beside a running service.
package struct LedgerVerify: Sendable {
    /// The journal to compare with.
    package enum Journal: Hashable, Sendable {
        case machine
        /// The files in a directory, such as a copy.
        case directory(String)
        case none
    }

    private let directory: String
    private let reader: LedgerReader
    private let ledger: String

    /// Opens the ledger of a state directory for reading.
    package init(stateDirectory: String) throws(UnreadableLedger) {
        directory = stateDirectory
        reader = try LedgerReader.reading(stateDirectory)
        do throws(LedgerError) {
            ledger = try reader.identity().id
        } catch {
            throw UnreadableLedger(error)
        }
    }

    /// Runs all checks.
    package func verdict(
        _ journal: Journal = .machine,
        progress: (LedgerProgress) -> Void = { _ in }
    ) throws(UnreadableLedger) -> LedgerVerdict {
        do throws(LedgerError) {
            // Read first, so that everything acknowledged by then is in the ledger when it is read, and everything
            // confirmed in the journal.
            let acknowledged = try reader.acknowledged()
            // Before the positions, which what is deleted never passes: or it would look as if the journal had skipped it.
            let pruned = try reader.statistics().pruned
            let positions = try reader.positions().filter { $0.projection != KeyFingerprint.projection }
            let saved = positions.first { $0.projection == DeliveryProgress.journal }
            let reached = saved.map { DeliveryProgress.Reached.resuming($0, pruned: pruned) }
            let key = keyCheck()
            let database = try databaseCheck()
            let lives = try reader.lives()
            let livesCheck = LivesCheck(lives, acknowledged, end: try reader.statistics().end).check
            let (checkpoint, accounts, effects) = try checkpointCheck()
            let audit = try BatchAudit(reader, from: accounts, progress: progress)
            return LedgerVerdict(
                ledger: ledger,
                checks: [
                    key, database, livesCheck, audit.check, checkpoint,
                    SumsCheck(at: accounts, effects, end: audit.accounts, journal: reached).check,
                    try positionsCheck(positions, end: audit.end),
                    try journalCheck(journal, lives, reached, progress),
                ]
            )
        } catch {
            throw UnreadableLedger(error)
        }
    }

    private func keyCheck() -> LedgerCheck {
        var check = LedgerCheck(.key)
        do {
            let isKept = try InstallationKey(directory: directory, mayCreate: false).isKey(of: reader, in: directory)
            check.sentence =
                isKept
                ? "\(InstallationKey.fileName) is the key of this ledger"
                : "\(InstallationKey.fileName) can be read; the ledger keeps no fingerprint of its key"
        } catch {
            check.sentence = InstallationKey.fileName
            check.fail("\(error)")
        }
        return check
    }

    private func databaseCheck() throws(LedgerError) -> LedgerCheck {
        var check = LedgerCheck(.database)
        let statistics = try reader.statistics()
        check.add("bytes", UInt64(statistics.bytesOnDisk))
        check.sentence = "\(statistics.bytesOnDisk) bytes, looked through by SQLite"
        for finding in try reader.integrityFindings() { check.fail(PlainText.line(finding)) }
        return check
    }

    private func checkpointCheck() throws(LedgerError) -> (LedgerCheck, SavedAccounts?, EffectSums?) {
        var check = LedgerCheck(.checkpoint)
        // Hashes under the key are only compared, so any key can read the state.
        var projection = LedgerProjection(identityKey: IdentityKey(0, 0), limits: LifecycleLimits())
        var pages: UInt64 = 0
        var bytes: UInt64 = 0
        var effects: EffectSums?
        do throws(LedgerError) {
            let isSaved = try projection.load(from: reader) { _, value in
                pages += 1
                bytes += UInt64(value.count)
            }
            effects = EffectSums(projection)
            check.sentence =
                isSaved ? "\(pages) pages of \(bytes) bytes, true for \(projection.position)" : "there is none yet"
        } catch {
            check.sentence = "read up to page \(pages)"
            check.fail(try detail(of: error))
        }
        check.add("pages", pages)
        check.add("bytes", bytes)
        do throws(LedgerError) {
            return (check, try SavedAccounts(from: reader), effects)
        } catch {
            _ = try detail(of: error)
            return (check, nil, effects)
        }
    }

    /// What is wrong with the ledger; rethrows transient and system errors.
    private func detail(of error: LedgerError) throws(LedgerError) -> String {
        switch error {
        case .corrupt(let detail): return detail
        case .damagedState(_, let key): return "the checksum of page \(key) is wrong"
        default: throw error
        }
    }

    private func positionsCheck(
        _ positions: [ProjectionPosition],
        end: LedgerPosition
    ) throws(LedgerError) -> LedgerCheck {
        var check = LedgerCheck(.positions)
        let pruned = try reader.statistics().pruned
        var parts: [String] = []
        for saved in positions {
            let name = PlainText.line(saved.projection)
            parts.append("\(name) at \(saved.position)")
            check.add(name, saved.position.sequence)
            if saved.position.batch > end.batch || saved.position.sequence > end.sequence {
                check.fail("\(name) is at \(saved.position), ahead of the ledger, which ends at \(end)")
            }
        }
        if let now = try reader.position(of: LedgerProjection.name)?.position ?? (pruned.batch > 0 ? .start : nil),
            now.batch < pruned.batch
        {
            check.fail("the checkpoint is at \(now), and batches up to \(pruned) were deleted: they are not counted")
        }
        check.sentence = (parts + ["end at \(end)"]).joined(separator: "; ")
        return check
    }

    private func journalCheck(
        _ journal: Journal,
        _ lives: [LedgerLife],
        _ reached: DeliveryProgress.Reached?,
        _ progress: (LedgerProgress) -> Void
    ) throws(LedgerError) -> LedgerCheck {
        let location: JournalLocation
        switch journal {
        case .none: return JournalCheck.skipped("not asked for")
        case .machine: location = .machine
        case .directory(let path): location = .directory(path)
        }
        guard reached != nil else { return JournalCheck.skipped("nothing of this ledger was ever journaled") }
        return try JournalCheck(of: reader, lives, reached, in: location, progress: progress).check
    }
}
