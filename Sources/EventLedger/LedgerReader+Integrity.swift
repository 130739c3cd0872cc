// SPDX-License-Identifier: Apache-2.0

extension LedgerReader {
    /// What SQLite's own check of the whole file finds; nothing when it is sound.
    ///
    /// At most ``LedgerVerification/maximumFindings``. It reads every page in one transaction; what a running service
    /// commits meanwhile stays in the write-ahead log until it ends. It knows nothing of the checksums of batches.
    public func integrityFindings() throws(LedgerError) -> [String] {
        try connection.access { (database) throws(LedgerError) in
            let check = try LedgerStatement(
                "PRAGMA integrity_check(\(LedgerVerification.maximumFindings))",
                in: database
            )
            defer { check.reset() }
            var findings: [String] = []
            do throws(LedgerError) {
                while try check.step() { findings.append(check.text(0)) }
            } catch .corrupt(let detail) {
                findings.append(detail)
            }
            return findings == ["ok"] ? [] : findings
        }
    }
}
