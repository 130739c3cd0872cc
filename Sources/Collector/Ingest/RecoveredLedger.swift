// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import LedgerState
internal import Logging
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The ledger and the installation's key after recovery, with the lifecycle's state as of the ledger's end.
struct RecoveredLedger {
    let ledger: EventLedger
    let opening: LedgerOpening
    let key: InstallationKey
    let identityKey: IdentityKey
    let projection: LedgerProjection
    let recovery: LedgerProjection.Recovery

    /// Opens the state directory and recovers the lifecycle's state.
    ///
    /// An unreadable checkpoint is replaced by folding the whole ledger; where batches were already deleted, the ledger is
    /// set aside like a damaged one and a new one begins.
    ///
    /// - Parameters:
    ///   - hasConsole: whether the console's index is kept.
    ///   - onProgress: Called with the progress of folding.
    init(
        directory: String,
        durability: LedgerDurability,
        hasConsole: Bool = false,
        now: Int64,
        _ log: Logger,
        onProgress: (RecoveryProgress) -> Void = { _ in }
    ) throws {
        try StateDirectory.create(directory)
        let found = try Self.foundKey(directory)
        var (ledger, opening) = try EventLedger.open(directory: directory, durability: durability, now: now)
        // Created under the ledger's lock and after the ledger, so that two first starts cannot create two keys, and a
        // ledger that is missing beside a key was lost.
        let key: InstallationKey
        do {
            key = try found ?? InstallationKey(directory: directory)
            do {
                try Self.bind(key, to: ledger, directory, now: now, log)
            } catch let error as LedgerError where error.isDamage {
                (ledger, opening) = try Self.replace(ledger, error, key, directory, durability, now: now, log)
            }
        } catch {
            try? ledger.close()
            throw error
        }
        let identityKey = key.identityKey
        let limits = LifecycleLimits()
        let empty = hasConsole ? CycleIndex(at: .start, since: now) : nil
        var recovered: (LedgerProjection, LedgerProjection.Recovery)
        do throws(LedgerError) {
            recovered = try LedgerProjection.recover(
                from: ledger.reader,
                identityKey: identityKey,
                limits: limits,
                index: hasConsole ? Self.index(ledger, log) ?? empty : nil,
                now: now,
                onProgress: onProgress
            )
        } catch {
            guard error.isDamage else { throw error }
            if let refolded = try Self.refolded(ledger, identityKey, limits, empty, onProgress) {
                log.error("the checkpoint cannot be read; the whole ledger was folded again: \(error.description)")
                recovered = refolded
            } else {
                (ledger, opening) = try Self.replace(ledger, error, key, directory, durability, now: now, log)
                let projection = LedgerProjection(identityKey: identityKey, limits: limits, index: empty)
                recovered = (projection, LedgerProjection.Recovery())
            }
        }
        if case .setAside = opening { log.error("\(opening)") } else { log.info("\(opening)") }
        if let life = ledger.renewal {
            let level = life.reason == .unmarked ? Logger.Level.warning : .error
            log.log(level: level, "\(life) (docs/ledger.md, lives)")
            if let kept = ledger.keptLog { log.log(level: level, "\(kept)") }
        }
        let recovery = recovered.1
        log.info("recovered", metadata: ["batches": "\(recovery.batches)"])
        if recovery.skippedBatches > 0 {
            log.error(
                "damaged batches of the ledger were skipped; their events are not counted",
                metadata: [
                    "batches": "\(recovery.damagedBatches.prefix(20))",
                    "missing": "\(recovery.missingBatches.prefix(20))",
                    "events": "\(recovery.lostEvents)",
                ]
            )
        }
        if !recovery.damagedSavedBatches.isEmpty {
            log.error(
                "batches of the ledger are damaged whose events are counted; what is not journaled of them cannot be",
                metadata: ["batches": "\(recovery.damagedSavedBatches.prefix(20))"]
            )
        }
        self.ledger = ledger
        self.opening = opening
        self.key = key
        self.identityKey = identityKey
        projection = recovered.0
        self.recovery = recovery
    }

    /// The key of the directory; nil where both key and ledger are to be created.
    ///
    /// Opens nothing for writing, so that the ledger stays as it is when one of the two is missing.
    private static func foundKey(_ directory: String) throws -> InstallationKey? {
        guard let key = try InstallationKey.load(from: directory) else {
            guard try isUnused(directory) else { throw InstallationKeyError.missing(directory) }
            return nil
        }
        if case .lost(let ledger) = try LedgerPresence.find(in: directory) { throw ledger }
        return key
    }

    /// Whether there is no ledger, or one that a first start left without an event when it ended before the key was created.
    private static func isUnused(_ directory: String) throws(LedgerError) -> Bool {
        // What a loss of power leaves of a database in its creation may be unreadable.
        let presence = try LedgerPresence.find(in: directory)
        if presence == .none { return true }
        do throws(LedgerError) {
            let reader = try LedgerReader.open(directory: directory)
            guard try KeyFingerprint(in: reader) == nil else { return false }
            return try reader.statistics().end.sequence == 0
        } catch .absent {
            return presence != .present
        } catch .obstructed(let path, let reason) {
            throw .obstructed(path: path, reason: reason)
        } catch {
            return false
        }
    }

    /// Checks that the ledger was not written under another key, and records the key's fingerprint in one that has none:
    /// a new one, or one of a version that kept none.
    private static func bind(
        _ key: InstallationKey,
        to ledger: EventLedger,
        _ directory: String,
        now: Int64,
        _ log: Logger
    ) throws {
        do {
            guard try !key.isKey(of: ledger.reader, in: directory) else { return }
        } catch let error as InstallationKeyError {
            // Without an event nothing was written under the other key.
            guard ledger.position.sequence == 0 else { throw error }
        }
        do throws(LedgerError) {
            try KeyFingerprint(of: key).save(to: ledger, now: now)
        } catch {
            guard error.isHindrance else { throw error }
            log.warning("the ledger keeps no fingerprint of its key before the next start: \(error.description)")
        }
    }

    /// Sets a damaged ledger aside and begins a new one under the same key.
    private static func replace(
        _ damaged: EventLedger,
        _ error: LedgerError,
        _ key: InstallationKey,
        _ directory: String,
        _ durability: LedgerDurability,
        now: Int64,
        _ log: Logger
    ) throws -> (EventLedger, LedgerOpening) {
        let path = try damaged.setAside(now: now)
        let ledger = try EventLedger.open(directory: directory, durability: durability, now: now).ledger
        try bind(key, to: ledger, directory, now: now, log)
        return (ledger, .setAside(path: path, reason: error.description))
    }

    /// The console's index as it was saved; nil where there is none, or where it is damaged, so that it begins anew.
    private static func index(_ ledger: EventLedger, _ log: Logger) -> CycleIndex? {
        do throws(LedgerError) {
            if let index = try CycleIndex(ledger.reader) { return index }
            guard try ledger.reader.position(of: CycleIndex.name) != nil else { return nil }
            log.warning("the console's index cannot be read and begins anew; counters and events are not affected")
        } catch {
            log.warning("the console's index cannot be read and begins anew: \(error.description)")
        }
        try? ledger.forget(projection: CycleIndex.name)
        return nil
    }

    /// Folds the whole ledger and drops its checkpoint; nil when batches were deleted or are damaged, too.
    private static func refolded(
        _ ledger: EventLedger,
        _ identityKey: IdentityKey,
        _ limits: LifecycleLimits,
        _ index: CycleIndex?,
        _ onProgress: (RecoveryProgress) -> Void
    ) throws(LedgerError) -> (LedgerProjection, LedgerProjection.Recovery)? {
        do throws(LedgerError) {
            guard try ledger.reader.statistics().pruned == .start else { return nil }
            let refolded = try LedgerProjection.recover(
                from: ledger.reader,
                identityKey: identityKey,
                limits: limits,
                isFromStart: true,
                index: index,
                onProgress: onProgress
            )
            try ledger.forget(projection: LedgerProjection.name)
            return refolded
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }
}

extension LedgerError {
    /// Whether the ledger's content is damaged, as opposed to a failure that may pass.
    fileprivate var isDamage: Bool {
        switch self {
        case .corrupt, .damagedState: true
        default: false
        }
    }
}
