// SPDX-License-Identifier: Apache-2.0

extension EventLedger {
    /// Closes the ledger and renames its files, for one whose content turned out to be unusable after it was opened.
    ///
    /// - Parameter now: the time for the new name, in microseconds since 1970 UTC.
    /// - Returns: the path under which the database is kept.
    public func setAside(now: Int64) throws(LedgerError) -> String {
        try close()
        return try reader.files.setAside(at: now)
    }
}
