// SPDX-License-Identifier: Apache-2.0

extension EventLedger {
    /// Opens the ledger that is in `directory`: none is made, and a damaged one stays where it is.
    ///
    /// - Throws: ``LedgerError/absent(path:)`` where there is none, ``LedgerError/corrupt(detail:)`` for a damaged one,
    ///   ``LedgerError/locked(directory:holder:)`` while another ledger works there.
    public static func openExisting(
        directory: String,
        durability: LedgerDurability
    ) throws(LedgerError) -> EventLedger {
        let files = LedgerFiles(directory: directory)
        guard let size = try LedgerFiles.size(of: files.database), size > 0 else {
            throw .absent(path: files.database)
        }
        let limits = LedgerLimits()
        let lock = try DirectoryLock(directory: directory)
        return try files.withReserve { () throws(LedgerError) in
            switch try LedgerInspection.inspect(files, limits: limits) {
            case .sound: return try open(files, lock: lock, durability: durability, now: 0, limits: limits)
            case .blank: throw .absent(path: files.database)
            case .damaged(let reason): throw .corrupt(detail: reason)
            }
        }
    }
}
