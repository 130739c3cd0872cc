// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

extension LedgerRebuild {
    /// Rebuilds, compares, and saves the rebuilt state as the checkpoint, all of it or nothing, for the end of the ledger.
    ///
    /// The service must be stopped. Nothing is saved while batches are damaged or missing that the saved state may
    /// still count.
    ///
    /// - Parameters:
    ///   - stateDirectory: the state directory.
    ///   - now: the time, in microseconds since 1970 UTC.
    ///   - progress: is told how far it has come.
    package static func write(
        stateDirectory: String,
        now: Int64,
        progress: (LedgerProgress) -> Void = { _ in }
    ) throws(UnreadableLedger) -> RebuildReport {
        let key = try identityKey(stateDirectory)
        let ledger: EventLedger
        do throws(LedgerError) {
            ledger = try EventLedger.openExisting(directory: stateDirectory, durability: .power)
        } catch {
            throw UnreadableLedger(error)
        }
        let outcome = Result { () throws(UnreadableLedger) in
            try LedgerRebuild(ledger.reader, key).write(to: ledger, now: now, progress: progress)
        }
        do throws(LedgerError) {
            try ledger.close()
        } catch {
            throw UnreadableLedger(error)
        }
        return try outcome.get()
    }

    private func write(
        to ledger: EventLedger,
        now: Int64,
        progress: (LedgerProgress) -> Void
    ) throws(UnreadableLedger) -> RebuildReport {
        var rebuilt = try rebuild(progress: progress)
        if let problem = rebuilt.refold.problems.first {
            throw UnreadableLedger("nothing was saved, since the saved state may count what cannot be read: \(problem)")
        }
        do throws(LedgerError) {
            try rebuilt.refold.save(to: ledger, now: now)
        } catch {
            throw UnreadableLedger(error)
        }
        rebuilt.report.isWritten = true
        return rebuilt.report
    }
}

extension LedgerRefold {
    /// Saves in parts, which count from the last, tiny transaction on: everything in place of what is saved, or what was
    /// folded behind it.
    fileprivate mutating func save(to ledger: EventLedger, now: Int64) throws(LedgerError) {
        let name = LedgerProjection.name
        while try !ledger.tidy(name) {}
        if isFromBeginning {
            var removal = StateChanges()
            removal.removeAll(prefix: "")
            try ledger.stage(removal, of: name)
        }
        var changes = projection.takeChanges(at: projection.position)
        while let part = changes.takePart(bytes: CheckpointSchedule.partBytes) { try ledger.stage(part, of: name) }
        try ledger.commitStage(of: name, at: projection.position, now: now)
    }
}
