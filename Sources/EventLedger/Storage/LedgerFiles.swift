// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The names of a ledger's files, and what the file system knows of them.
struct LedgerFiles: Sendable {
    let directory: String

    var database: String { directory + "/ledger.sqlite" }
    var log: String { database + "-wal" }

    /// What SQLite adds to the database's name for the files that belong to it.
    static let companions = ["-wal", "-shm", "-journal"]

    /// Makes the directory, for the owner alone; one that is there keeps its mode.
    func makeDirectory() throws(LedgerError) {
        guard unsafe mkdir(directory, 0o700) != 0 else { return }
        let code = errno
        guard code == EEXIST else { throw LedgerError(errno: code, doing: "make directory \(directory)") }
    }

    /// Makes an empty database file, or closes the one that is there to everyone but the owner; SQLite gives the mode
    /// to its companions.
    func protectDatabase() throws(LedgerError) {
        let descriptor = unsafe open(database, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw LedgerError(errno: errno, doing: "open \(database)") }
        defer { _ = Glibc.close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw LedgerError(errno: errno, doing: "set the mode of \(database)")
        }
    }

    /// The size of a file; nil when it isn't there.
    static func size(of path: String) throws(LedgerError) -> Int64? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw LedgerError(errno: code, doing: "look at \(path)")
        }
        return Int64(status.st_size)
    }

    /// What the file system of the directory still gives to those who are not root; nil when it doesn't say.
    var availableBytes: Int64? {
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else { return nil }
        let (bytes, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflows ? .max : Int64(clamping: bytes)
    }

    /// Makes renames in the directory durable.
    func synchronizeDirectory() throws(LedgerError) {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LedgerError(errno: errno, doing: "open \(directory)") }
        defer { _ = Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LedgerError(errno: errno, doing: "synchronize \(directory)") }
    }
}
