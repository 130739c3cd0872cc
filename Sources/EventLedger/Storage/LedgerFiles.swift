// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemPrimitives

/// The files of a ledger: their names, modes, sizes and renames.
struct LedgerFiles: Sendable {
    let directory: String
    var disk: any LedgerDisk = SystemDisk()

    var database: String { directory + "/ledger.sqlite" }
    /// What SQLite opens the database by (https://sqlite.org/uri.html).
    var databaseName: String { disk.vfs.map { "file:\(database)?vfs=\($0)" } ?? database }
    var log: String { database + "-wal" }
    var lock: String { directory + "/ledger.lock" }
    /// Outside the database and its log (``LedgerMark``).
    var markFile: String { directory + "/ledger.mark" }
    /// The log of a ledger that had lost its end (``KeptLog``).
    var keptLog: String { directory + "/ledger-damaged.sqlite-wal" }

    /// The suffixes of the files that SQLite keeps beside the database.
    static let companions = ["-wal", "-shm", "-journal"]

    /// Creates the directory with mode 0700; an existing one keeps its mode.
    func makeDirectory() throws(LedgerError) {
        do throws(ErrorNumber) {
            try disk.makeDirectory(directory)
        } catch {
            guard error.code == EEXIST else { throw LedgerError(error, doing: "create directory \(directory)") }
        }
    }

    /// Creates an empty database file with mode 0600, or sets that mode on an existing one; SQLite copies it to the
    /// companions.
    func protectDatabase() throws(LedgerError) {
        try using(database, O_RDWR | O_CREAT, doing: "open \(database)") { (descriptor) throws(ErrorNumber) in
            try disk.protect(descriptor)
        }
    }

    /// The size of the database; nil when there is none.
    ///
    /// A file of one byte is empty to SQLite, which writes over it (`unixFileSize` in its os_unix.c).
    func databaseBytes() throws(LedgerError) -> Int64? {
        try size(of: database).map { $0 == 1 ? 0 : $0 }
    }

    /// The size of a file; nil when there is none.
    func size(of path: String) throws(LedgerError) -> Int64? { try entry(path, followsLinks: true)?.bytes }

    private func entry(_ path: String, followsLinks: Bool) throws(LedgerError) -> DiskEntry? {
        do throws(ErrorNumber) {
            return try disk.status(path, followsLinks: followsLinks)
        } catch {
            throw LedgerError(error, doing: "stat \(path)")
        }
    }

    /// Opens a file for as long as `body` runs.
    private func using(
        _ path: String,
        _ flags: Int32,
        doing what: String,
        _ body: (Int32) throws(ErrorNumber) -> Void = { (_) throws(ErrorNumber) in }
    ) throws(LedgerError) {
        do throws(ErrorNumber) {
            let descriptor = try disk.open(path, flags)
            defer { disk.close(descriptor) }
            try body(descriptor)
        } catch {
            throw LedgerError(error, doing: what)
        }
    }

    /// Checks that nothing but a file is where the ledger has its files.
    ///
    /// SQLite reports a directory there as a file that cannot be opened, and a reserve that cannot be allocated would pass
    /// for a full disk.
    func requireFiles() throws(LedgerError) {
        try requireDatabaseFiles()
        for path in [markFile, lock, mark, reserve] { try requireFile(path) }
        guard try size(of: reserve) != nil else { return }
        do throws(ErrorNumber) {
            disk.close(try disk.open(reserve, O_WRONLY))
        } catch {
            throw .obstructed(path: reserve, reason: error.text ?? "it cannot be opened")
        }
    }

    /// The same for the database, its log and what else SQLite keeps beside it.
    ///
    /// - Parameter followsLinks: whether links to files will do, as they do for a reader.
    func requireDatabaseFiles(followsLinks: Bool = false) throws(LedgerError) {
        for suffix in [""] + Self.companions { try requireFile(database + suffix, followsLinks: followsLinks) }
    }

    private func requireFile(_ path: String, followsLinks: Bool = false) throws(LedgerError) {
        guard let entry = try entry(path, followsLinks: followsLinks) else { return }
        let reason: String
        switch entry.kind {
        case .file: return
        case .directory: reason = ErrorNumber(EISDIR).text ?? "it is a directory"
        case .link: reason = "it is a symbolic link"
        case .other: reason = "it is no regular file"
        }
        throw .obstructed(path: path, reason: reason)
    }

    /// The size of the directory's file system, and what unprivileged processes may still take of it; nil when unknown.
    var space: (total: Int64, available: Int64)? { disk.space(directory) }

    /// The bytes available to unprivileged processes on the directory's file system; nil when unknown.
    var availableBytes: Int64? { space?.available }

    /// Makes renames in the directory durable.
    func synchronizeDirectory() throws(LedgerError) {
        try using(directory, O_RDONLY | O_DIRECTORY, doing: "synchronize \(directory)") {
            (descriptor) throws(ErrorNumber) in try disk.synchronize(descriptor)
        }
    }
}

// MARK: The reserve

extension LedgerFiles {
    var reserve: String { directory + "/ledger.reserve" }

    /// Gives the reserve's space to the ledger that `body` opens, a part of it at first and the rest where that is too
    /// little, and takes it back when `body` throws. So a ledger can be opened and served on a full disk.
    func withReserve<Result>(_ body: () throws(LedgerError) -> Result) throws(LedgerError) -> Result {
        var reserve = LedgerReserve(self)
        let held = reserve.bytes
        _ = reserve.release(LedgerReserve.openingBytes)
        while true {
            do throws(LedgerError) {
                return try body()
            } catch {
                if case .full = error, reserve.release(.max) { continue }
                if held > 0 { reserve.resize(to: held, available: .max) }
                throw error
            }
        }
    }
}

// MARK: Creating a ledger

/// A mark stands in the directory from before a new database is made until it is complete, so that a database that is
/// missing or empty without it was lost (``LedgerPresence``).
extension LedgerFiles {
    private var mark: String { directory + "/ledger.new" }

    func isInCreation() throws(LedgerError) -> Bool { try size(of: mark) != nil }

    /// Sets the mark, durably.
    func beginCreation() throws(LedgerError) {
        try using(mark, O_WRONLY | O_CREAT, doing: "create \(mark)")
        try synchronizeDirectory()
    }

    /// Removes the mark of a database that is complete, durably: should it come back, an empty database would be a new one.
    func endCreation() throws(LedgerError) {
        do throws(ErrorNumber) { try disk.remove(mark) } catch { return }
        try synchronizeDirectory()
    }

    /// The names of the files that stay beside a database from its creation on.
    func traces() throws(LedgerError) -> [String] {
        var names: [String] = []
        for path in Self.companions.map({ database + $0 }) + [lock, reserve] where try size(of: path) != nil {
            names.append(String(path.dropFirst(directory.count + 1)))
        }
        return names
    }
}

// MARK: Setting a damaged ledger aside

extension LedgerFiles {
    /// Renames the database and its companions to `ledger-corrupt-<stamp>.sqlite` and returns that path.
    ///
    /// The database goes first: should the process end between two renames, the next start sets the lone log aside too,
    /// whereas a database without its log would look complete. No file is removed or overwritten. What follows is a new
    /// ledger, so its creation begins here.
    func setAside(at now: Int64) throws(LedgerError) -> String {
        let target = try unusedName(at: now)
        try beginCreation()
        for suffix in [""] + Self.companions {
            do throws(ErrorNumber) {
                try disk.rename(database + suffix, to: target + suffix)
            } catch {
                guard error.code != ENOENT else { continue }
                throw LedgerError(error, doing: "rename \(database + suffix) to \(target + suffix)")
            }
        }
        try synchronizeDirectory()
        return target
    }

    /// The maximum number of ledgers set aside within one second.
    private static let maximumPerSecond = 1000

    private func unusedName(at now: Int64) throws(LedgerError) -> String {
        let stamp = CompactTimestamp(microseconds: now)
        for attempt in 1...Self.maximumPerSecond {
            let name = "\(directory)/ledger-corrupt-\(stamp)\(attempt == 1 ? "" : "-\(attempt)").sqlite"
            var isUsed = false
            for suffix in [""] + Self.companions where try size(of: name + suffix) != nil {
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

/// A time as `yyyyMMddTHHmmssZ`, the basic format of ISO 8601, for file names.
struct CompactTimestamp: CustomStringConvertible {
    let microseconds: Int64

    private static let microsecondsPerDay: Int64 = 86_400_000_000

    /// The civil date is Howard Hinnant's `civil_from_days` (https://howardhinnant.github.io/date_algorithms.html):
    /// eras of 400 years that begin in March.
    var description: String {
        let bounded = min(max(microseconds, 0), 253_402_300_799_999_999)
        let (days, rest) = bounded.quotientAndRemainder(dividingBy: Self.microsecondsPerDay)
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let seconds = rest / 1_000_000
        return pad(year, 4) + pad(month, 2) + pad(day, 2) + "T" + pad(seconds / 3600, 2) + pad(seconds / 60 % 60, 2)
            + pad(seconds % 60, 2) + "Z"
    }

    private func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
