// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file of nothing beside a closed ledger: the room for what SQLite makes before it can read the database, the index of
/// the write-ahead log. So a full disk does not keep a ledger from being opened and served.
extension LedgerFiles {
    var reserve: String { directory + "/ledger.reserve" }

    /// What the index of an empty log has: no more, so that on a full disk the one makes room for the other each time.
    private static var reservedBytes: off_t { 32 << 10 }

    /// Gives the room to the ledger that `body` opens, and takes it again if that does not succeed.
    func withReserve<Result>(_ body: () throws(LedgerError) -> Result) throws(LedgerError) -> Result {
        let hadReserve = releaseReserve()
        do {
            return try body()
        } catch {
            if hadReserve { makeReserve() }
            throw error
        }
    }

    /// - Returns: whether there was any.
    private func releaseReserve() -> Bool {
        unsafe unlink(reserve) == 0
    }

    /// Takes the room that the closed ledger has left, if it is still there.
    func makeReserve() {
        let descriptor = unsafe open(reserve, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { _ = Glibc.close(descriptor) }
        if posix_fallocate(descriptor, 0, Self.reservedBytes) != 0 { _ = releaseReserve() }
    }
}
