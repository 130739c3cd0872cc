// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension LedgerFiles {
    /// Renames the database and its companions to `ledger-corrupt-<stamp>.sqlite` and returns that path.
    ///
    /// The database goes first: should the process end between two renames, its log without it is set aside next time,
    /// whereas a database without its log would be taken for whole. No file is removed or overwritten.
    func setAside(at now: Int64) throws(LedgerError) -> String {
        let target = try unusedName(at: now)
        for suffix in [""] + Self.companions {
            guard unsafe rename(database + suffix, target + suffix) != 0 else { continue }
            let code = errno
            guard code == ENOENT else {
                throw LedgerError(errno: code, doing: "rename \(database + suffix) to \(target + suffix)")
            }
        }
        try synchronizeDirectory()
        return target
    }

    /// The most ledgers set aside within one second.
    private static let maximumPerSecond = 1000

    private func unusedName(at now: Int64) throws(LedgerError) -> String {
        let stamp = CompactTimestamp(microseconds: now)
        for attempt in 1...Self.maximumPerSecond {
            let name = "\(directory)/ledger-corrupt-\(stamp)\(attempt == 1 ? "" : "-\(attempt)").sqlite"
            var isUsed = false
            for suffix in [""] + Self.companions where try Self.size(of: name + suffix) != nil {
                isUsed = true
            }
            if !isUsed { return name }
        }
        throw LedgerError.other(
            code: -EEXIST,
            message: "\(Self.maximumPerSecond) ledgers of \(stamp) are set aside in \(directory) already"
        )
    }
}
