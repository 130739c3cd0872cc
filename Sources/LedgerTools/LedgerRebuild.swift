// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// Folds the ledger again and compares the result with the saved checkpoint (docs/ledger.md).
///
/// While the ledger still holds its first batch, everything is rebuilt. Otherwise the checkpoint is all that is left of
/// the deleted batches, and only the batches after it are folded.
package struct LedgerRebuild: Sendable {
    /// How often a rebuild starts over because a running service deleted batches that were not read yet.
    private static let maximumAttempts = 5

    private let reader: LedgerReader
    private let identityKey: IdentityKey

    /// Opens the ledger of a state directory for reading.
    package init(stateDirectory: String) throws(UnreadableLedger) {
        reader = try LedgerReader.reading(stateDirectory)
        identityKey = try Self.identityKey(stateDirectory, of: reader)
    }

    init(_ reader: LedgerReader, _ identityKey: IdentityKey) {
        self.reader = reader
        self.identityKey = identityKey
    }

    private static func identityKey(
        _ directory: String,
        of reader: LedgerReader
    ) throws(UnreadableLedger) -> IdentityKey {
        do {
            let key = try InstallationKey(directory: directory, mayCreate: false)
            _ = try key.isKey(of: reader, in: directory)
            return key.identityKey
        } catch let error as LedgerError {
            throw UnreadableLedger(error)
        } catch {
            throw UnreadableLedger("\(error)")
        }
    }

    /// Rebuilds and compares without changing anything.
    package func report(
        progress: (LedgerProgress) -> Void = { _ in }
    ) throws(UnreadableLedger) -> RebuildReport {
        try rebuild(progress: progress).report
    }

    /// The samples of the metrics page that the ledger comes to, by name and labels, without changing anything.
    package func samples() throws(UnreadableLedger) -> [String: String] {
        CounterValues(try rebuild(progress: { _ in }).refold.projection).samples
    }

    /// The result of a rebuild: the report, and the state to save.
    private struct Rebuilt {
        var report: RebuildReport
        var refold: LedgerRefold
    }

    private func rebuild(progress: (LedgerProgress) -> Void) throws(UnreadableLedger) -> Rebuilt {
        for _ in 0..<Self.maximumAttempts {
            do {
                return try attempt(progress: progress)
            } catch is LedgerRefold.Overtaken {
                continue
            } catch let error as LedgerError {
                throw UnreadableLedger(error)
            } catch {
                throw UnreadableLedger("\(error)")
            }
        }
        throw UnreadableLedger("the service deletes batches faster than they are read; stop it for the rebuild")
    }

    private func attempt(progress: (LedgerProgress) -> Void) throws -> Rebuilt {
        let statistics = try reader.statistics()
        var report = RebuildReport(result: .equal, pruned: statistics.pruned, end: statistics.end)
        var loaded = blank
        var comparison = StateComparison()
        do throws(LedgerError) {
            let isSaved = try loaded.load(from: reader) { key, value in
                // Limits that are whole again have a page, and those that always were have none.
                guard key != LimitsRow.stateKey || value != LimitsRow.page(halvings: 0) else { return }
                comparison.add(saved: key, value)
            }
            if isSaved { report.saved = loaded.position }
            if loaded.wasCompleted { loaded.eachCompletedPage { comparison.add(saved: $0, $1) } }
        } catch {
            guard let detail = error.stateDetail else { throw error }
            report.problems.append(detail)
            report.saved = try reader.position(of: LedgerProjection.name)?.position
        }
        report.savedPages = comparison.savedPages
        report.continuesEarlierVersion = loaded.fold.continuesEarlierVersion
        let hasIndex = try reader.position(of: CycleIndex.name) != nil
        guard statistics.pruned == .start else {
            if hasIndex { loaded = loaded.indexed(by: try CycleIndex(reader)) }
            return try resume(from: loaded, report, progress)
        }

        let oldest = statistics.oldestReceivedAt ?? 0
        var refold = LedgerRefold(hasIndex ? blank.indexed(by: CycleIndex(at: .start, since: oldest)) : blank)
        let estimatedUpTo = loaded.accounts.estimatedUpTo
        refold.projection.estimatesUpTo = estimatedUpTo == 0 ? nil : Int64(clamping: estimatedUpTo)
        try refold.fold(reader, upTo: report.saved ?? .start, progress: progress)
        var whole = refold.projection
        if report.saved != nil {
            whole.takeWholeState { comparison.add(rebuilt: $0, $1) }
            report.pages = comparison.pages
            if report.problems.isEmpty {
                report.counters = CounterValues(loaded).differences(from: CounterValues(refold.projection))
            }
        }
        try refold.fold(reader, progress: progress)
        if report.continuesEarlierVersion { refold.projection.fold.keepEarlierIdentities() }
        conclude(&report, refold)
        return Rebuilt(report: report, refold: refold)
    }

    /// Folds from the last checkpoint on, because the batches before it were deleted.
    private func resume(
        from loaded: LedgerProjection,
        _ report: RebuildReport,
        _ progress: (LedgerProgress) -> Void
    ) throws -> Rebuilt {
        guard report.problems.isEmpty, report.saved != nil else {
            let why = report.problems.first ?? "there is no checkpoint"
            throw UnreadableLedger(
                "batches up to \(report.pruned) were deleted, and the checkpoint that counts them cannot be read: \(why)"
            )
        }
        var report = report
        var refold = LedgerRefold(loaded)
        try refold.fold(reader, progress: progress)
        report.result = .notComparable
        conclude(&report, refold)
        return Rebuilt(report: report, refold: refold)
    }

    private func conclude(_ report: inout RebuildReport, _ refold: LedgerRefold) {
        report.batches = refold.batches
        report.events = refold.events
        report.end = refold.projection.position
        report.problems += refold.problems
        // It tells apart what an earlier version saved, which a rebuilt state has nothing of.
        if report.continuesEarlierVersion { report.pages.removeAll { $0.name == Self.layoutPage } }
        if !report.problems.isEmpty {
            report.result = .different
        } else if !report.pages.isEmpty || !report.counters.isEmpty {
            report.result = report.continuesEarlierVersion ? .notComparable : .different
        }
    }

    /// The page that says how the others are laid out.
    private static let layoutPage = LedgerProjection.foldPrefix + LifecycleFold.layoutKey

    private var blank: LedgerProjection { LedgerProjection(identityKey: identityKey, limits: LifecycleLimits()) }
}

extension LedgerError {
    /// What is wrong with a saved state; nil for a transient or system error.
    fileprivate var stateDetail: String? {
        switch self {
        case .corrupt(let detail): detail
        case .damagedState(_, let key): "the checksum of page \(key) is wrong; the pages behind it were not compared"
        default: nil
        }
    }
}

extension LedgerRebuild {
    /// Rebuilds, compares, and saves the rebuilt state atomically as the checkpoint of the ledger's end.
    ///
    /// The service must be stopped. Nothing is saved while batches are damaged or missing that the saved state may
    /// still count.
    ///
    /// - Parameters:
    ///   - stateDirectory: the state directory.
    ///   - now: the time, in microseconds since 1970 UTC.
    ///   - progress: called after every batch.
    package static func write(
        stateDirectory: String,
        now: Int64,
        progress: (LedgerProgress) -> Void = { _ in }
    ) throws(UnreadableLedger) -> RebuildReport {
        let ledger: EventLedger
        do throws(LedgerError) {
            ledger = try EventLedger.openExisting(directory: stateDirectory, durability: .power)
        } catch {
            throw UnreadableLedger(error, in: stateDirectory)
        }
        let outcome = Result { () throws(UnreadableLedger) in
            let key = try identityKey(stateDirectory, of: ledger.reader)
            return try LedgerRebuild(ledger.reader, key).write(to: ledger, now: now, progress: progress)
        }
        do throws(LedgerError) {
            try ledger.close()
        } catch {
            throw UnreadableLedger(error)
        }
        return try outcome.get()
    }

    func write(
        to ledger: EventLedger,
        now: Int64,
        progress: (LedgerProgress) -> Void = { _ in }
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
    /// Stages the state in parts and commits them in one small transaction: all of it, or the changes since the
    /// checkpoint.
    fileprivate mutating func save(to ledger: EventLedger, now: Int64) throws(LedgerError) {
        try saveIndex(to: ledger, now: now)
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

extension LedgerRefold {
    /// Saves the console's index, before the state that it must not fall behind.
    private mutating func saveIndex(to ledger: EventLedger, now: Int64) throws(LedgerError) {
        projection.updateIndex()
        guard let index = projection.index else { return }
        if isFromBeginning { try ledger.forget(projection: CycleIndex.name) }
        try ledger.checkpoint(
            projection: CycleIndex.name,
            at: projection.position,
            changes: index.changes,
            now: now
        )
    }
}

/// Folds the batches of a ledger again, from its first one or from the last checkpoint.
private struct LedgerRefold {
    var projection: LedgerProjection
    /// Whether it began with an empty state, so that it holds everything that was ever accepted.
    let isFromBeginning: Bool
    private(set) var batches: UInt64 = 0
    private(set) var events: UInt64 = 0
    /// What could not be folded, although the saved state may count it.
    private(set) var problems: [String] = []

    /// The running service deleted batches before they were folded.
    struct Overtaken: Error {}

    /// - Parameter projection: the state to begin with.
    init(_ projection: LedgerProjection) {
        self.projection = projection
        isFromBeginning = projection.position == .start
    }

    /// Folds up to a position, or to the end of the ledger.
    mutating func fold(
        _ reader: LedgerReader,
        upTo end: LedgerPosition? = nil,
        progress: (LedgerProgress) -> Void
    ) throws {
        var reached = LedgerProgress()
        var walk = try LedgerWalk(reader, after: projection.position)
        while projection.position.batch < end?.batch ?? .max, let step = try walk.next() {
            switch step {
            case .batch(let stored):
                if stored.id > end?.batch ?? .max { return }
                apply(stored)
                reached.events = events
                progress(reached)
            case .damaged(let batch, let detail):
                problems.append("batch \(batch) is damaged and not in it: \(detail)")
            case .gap(let last, let batch, _):
                problems.append("batch \(batch) does not follow \(last): something between them is missing")
            case .deleted: throw Overtaken()
            }
        }
        if let end, walk.last.batch < end.batch {
            problems.append("the ledger ends at \(walk.last), before \(end)")
        }
    }

    /// Of a damaged batch the readable parts are folded, as in a recovery; the saved state may count the others too.
    private mutating func apply(_ stored: StoredBatch) {
        batches += 1
        events += UInt64(stored.batch.count)
        do throws(DamagedRowError) {
            try projection.apply(stored.batch, at: stored.position)
        } catch {
            problems.append("batch \(stored.id) is damaged and only partly in it: \(error)")
        }
    }
}

extension LedgerProjection {
    /// Calls `body` with the pages that an older version saved with less in them, as this version saves them.
    fileprivate func eachCompletedPage(_ body: (StateKey, [UInt8]) -> Void) {
        body(IngestAccounts.stateKey, accounts.encoded)
        var loaded = self
        var delta = loaded.takeFoldChanges()
        // The totals come first; the others are as they were saved.
        if let totals = delta.takePage() { body(StateKey(Self.foldPrefix + totals.key), totals.value) }
    }

    /// Calls `body` with every page of a checkpoint.
    ///
    /// Only for a projection that was not loaded and of which no changes were taken.
    mutating func takeWholeState(_ body: (StateKey, [UInt8]) -> Void) {
        body(IngestAccounts.stateKey, accounts.encoded)
        for source in sources.sources {
            if let page = sources.page(of: source) { body(SourcePositions.key(of: source), page) }
        }
        if fold.halvings != 0 { body(LimitsRow.stateKey, LimitsRow.page(halvings: fold.halvings)) }
        var delta = takeFoldChanges()
        while let page = delta.takePage() { body(StateKey(Self.foldPrefix + page.key), page.value) }
    }
}
