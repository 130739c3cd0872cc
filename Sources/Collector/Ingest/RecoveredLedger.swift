// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import Logging
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The opened state directory: the ledger, the key and what recovery made of them.
struct LedgerRoom {
    let ledger: EventLedger
    let opening: LedgerOpening
    let key: InstallationKey
    let identityKey: IdentityKey
    let projection: LedgerProjection

    /// Opens the ledger and folds it. Where its saved state cannot be read, it is folded anew from its first batch on; it is
    /// set aside like a damaged one when that is no longer there.
    ///
    /// - Parameter onProgress: told how far the folding has come.
    init(
        directory: String,
        durability: LedgerDurability,
        now: Int64,
        _ log: Logger,
        onProgress: (RecoveryProgress) -> Void = { _ in }
    ) throws {
        try StateDirectory.create(directory)
        let key = try InstallationKey(directory: directory, mayCreate: !StateDirectory.hasLedger(directory))
        var (ledger, opening) = try EventLedger.open(directory: directory, durability: durability, now: now)
        let identityKey = key.identityKey
        let limits = LifecycleLimits()
        var recovered: (LedgerProjection, LedgerProjection.Recovery)
        do throws(LedgerError) {
            recovered = try LedgerProjection.recover(
                from: ledger.reader,
                identityKey: identityKey,
                limits: limits,
                onProgress: onProgress
            )
        } catch {
            guard error.isDamage else { throw error }
            if let anew = try Self.foldedAnew(ledger, identityKey, limits, onProgress) {
                log.error("the saved state cannot be read; all of the ledger was folded anew: \(error.description)")
                recovered = anew
            } else {
                let path = try ledger.setAside(now: now)
                opening = .setAside(path: path, reason: error.description)
                ledger = try EventLedger.open(directory: directory, durability: durability, now: now).ledger
                recovered = (LedgerProjection(identityKey: identityKey, limits: limits), LedgerProjection.Recovery())
            }
        }
        if case .setAside = opening { log.error("\(opening)") } else { log.info("\(opening)") }
        let recovery = recovered.1
        log.info("recovered", metadata: ["batches": "\(recovery.batches)"])
        if !recovery.damagedBatches.isEmpty {
            log.error(
                "damaged batches of the ledger were skipped; their events are not counted",
                metadata: ["batches": "\(recovery.damagedBatches.prefix(20))"]
            )
        }
        self.ledger = ledger
        self.opening = opening
        self.key = key
        self.identityKey = identityKey
        projection = recovered.0
    }

    /// What the whole ledger comes to without its saved state, which is forgotten; nil when batches were deleted, or when
    /// those cannot be read either.
    private static func foldedAnew(
        _ ledger: EventLedger,
        _ identityKey: IdentityKey,
        _ limits: LifecycleLimits,
        _ onProgress: (RecoveryProgress) -> Void
    ) throws(LedgerError) -> (LedgerProjection, LedgerProjection.Recovery)? {
        do throws(LedgerError) {
            guard try ledger.reader.statistics().pruned == .start else { return nil }
            let anew = try LedgerProjection.recover(
                from: ledger.reader,
                identityKey: identityKey,
                limits: limits,
                isFromStart: true,
                onProgress: onProgress
            )
            try ledger.forget(projection: LedgerProjection.name)
            return anew
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }
}

extension LedgerError {
    /// Whether the ledger's content is at fault, and not the moment or the machine.
    fileprivate var isDamage: Bool {
        switch self {
        case .corrupt, .damagedState: true
        default: false
        }
    }
}
