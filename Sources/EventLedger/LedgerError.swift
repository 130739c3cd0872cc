// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import SystemPrimitives

/// Why an operation on the ledger failed.
public enum LedgerError: Error, Sendable, Equatable {
    /// There is no space left. Nothing was stored; the same call may be repeated once there is space.
    case full(detail: String)
    /// The database is damaged. Reopening sets it aside.
    case corrupt(detail: String)
    /// A batch is damaged; reading after its id skips it.
    case damagedBatch(id: Int64, detail: String)
    /// A page of a projection's state is damaged; rebuild the projection from the ledger.
    case damagedState(projection: String, key: StateKey)
    /// Another connection holds the write lock for longer than the ledger waits.
    case busy(detail: String)
    /// Another process, or another ledger of this one, has the directory open.
    case locked(directory: String, holder: Int32?)
    /// The ledger was written by a newer version.
    case newerSchema(found: Int64, supported: Int64, path: String)
    /// There is no ledger at the path, and the caller asked for none to be created.
    case absent(path: String)
    /// Something that is no file, or may not be written, is in the place of one of the ledger's files.
    case obstructed(path: String, reason: String)
    /// The call itself is invalid; `detail` says what was expected.
    case refused(detail: String)
    /// Anything else, with SQLite's extended result code or the negated `errno`.
    case other(code: Int32, message: String)
}

extension LedgerError {
    /// Whether only space or a lock was missing: the ledger recovers by itself, and a restart would not help.
    public var isHindrance: Bool {
        switch self {
        case .full, .busy: true
        default: false
        }
    }
}

extension LedgerError: CustomStringConvertible {
    /// What happened and what to do about it.
    public var description: String {
        switch self {
        case .full(let detail):
            "no space left for the ledger (\(detail)); nothing was stored: free some space, and it recovers by itself"
        case .corrupt(let detail):
            "the ledger is damaged (\(detail)); a restart sets it aside and creates a new one"
        case .damagedBatch(let id, let detail):
            "batch \(id) of the ledger is damaged (\(detail)); read on after it to skip it"
        case .damagedState(let projection, let key):
            "the saved state '\(key)' of projection '\(projection)' is damaged; rebuild the projection from the ledger"
        case .busy(let detail):
            "another connection keeps the ledger busy (\(detail)); close the other program that has it open"
        case .locked(let directory, let holder):
            "the ledger in \(directory) is in use by \(holder.map { "process \($0)" } ?? "another process"); "
                + "stop that one, or use another directory"
        case .newerSchema(let found, let supported, let path):
            "\(path) has schema \(found) and this version knows up to \(supported); use the version that wrote it"
        case .absent(let path):
            "there is no ledger at \(path)"
        case .obstructed(let path, let reason):
            "expected a file of the ledger at \(path): \(reason); move it away, or mend its permissions"
        case .refused(let detail):
            "refused: \(detail)"
        case .other(let code, let message):
            // Below 0 is the number of an error whose text the message has.
            code < 0 ? "the ledger failed: \(message)" : "the ledger failed with code \(code): \(message)"
        }
    }
}

extension LedgerError {
    /// Classifies an extended result code of SQLite (https://sqlite.org/rescode.html).
    ///
    /// `SQLITE_FULL` is a write that failed with ENOSPC. An exceeded quota, a file system that reports ENOSPC late, and a
    /// log index that cannot grow are kinds of `SQLITE_IOERR`, as a failing disk is; `systemError` distinguishes them.
    ///
    /// - Parameter systemError: the `errno` behind the code (https://sqlite.org/c3ref/system_errno.html).
    init(code: Int32, systemError: Int32, message: String) {
        let detail = "SQLite \(code): \(message)"
        switch code & 0xFF {
        case SQLITE_FULL:
            self = .full(detail: detail)
        case SQLITE_IOERR where Self.writingCodes.contains(code >> 8):
            // SQLite tells none of a failed sync while a database is created.
            let reason = systemError == 0 ? "" : ": \(Self.text(of: systemError))"
            self =
                Self.isLackOfSpace(systemError)
                ? .full(detail: detail + reason) : .other(code: code, message: message + reason)
        case SQLITE_CORRUPT where Self.isUnread(systemError), SQLITE_NOTADB where Self.isUnread(systemError):
            // SQLite takes what a disk fails to read for damage (`SQLITE_IOERR_CORRUPTFS`), and the next read may succeed.
            self = .other(code: SQLITE_IOERR, message: "\(message): \(Self.text(of: systemError))")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self = .corrupt(detail: detail)
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = .busy(detail: detail)
        default:
            self = .other(code: code, message: message)
        }
    }

    /// Classifies an error of GRDB.
    ///
    /// - Parameter database: the connection that it comes from, before its next use; nil where there is none.
    init(_ error: any Error, in database: Database?) {
        if let error = error as? LedgerError {
            self = error
        } else if let error = error as? DatabaseError {
            let code = error.extendedResultCode.rawValue
            let systemError = database.map { unsafe SQLiteSystemError.last(of: $0.sqliteConnection, code) } ?? 0
            self.init(code: code, systemError: systemError, message: error.message ?? "no message")
        } else {
            self = .other(code: SQLITE_ERROR, message: String(describing: error))
        }
    }

    /// Describes a failed system call.
    init(_ error: ErrorNumber, doing what: String) {
        let message = "\(what): \(Self.text(of: error.code))"
        self = Self.isLackOfSpace(error.code) ? .full(detail: message) : .other(code: -error.code, message: message)
    }

    /// The second bytes of `SQLITE_IOERR_WRITE`, `_FSYNC`, `_DIR_FSYNC`, `_TRUNCATE` and `_SHMSIZE`.
    private static let writingCodes: [Int32] = [3, 4, 5, 6, 19]

    private static func isLackOfSpace(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    /// Those that SQLite's VFS says `SQLITE_IOERR_CORRUPTFS` of and a disk gives (`unixRead` in its os_unix.c).
    private static func isUnread(_ code: Int32) -> Bool { code == EIO || code == ENXIO }

    private static func text(of code: Int32) -> String {
        ErrorNumber(code).text ?? "error \(code)"
    }
}

/// The `errno` behind an error of SQLite.
enum SQLiteSystemError {
    /// The last `errno` of a connection for an extended result code, or 0.
    ///
    /// SQLite before 3.41 does not pass the `errno` of a failed commit on to the connection; the file of its log has it.
    static func last(of connection: OpaquePointer?, _ code: Int32) -> Int32 {
        switch code & 0xFF {
        case SQLITE_IOERR:
            let ofLog = code == Self.ofIndex ? 0 : unsafe ofLog(connection)
            return ofLog != 0 ? ofLog : unsafe sqlite3_system_errno(connection)
        case SQLITE_CORRUPT, SQLITE_NOTADB: return unsafe ofFiles(connection)
        default: return 0
        }
    }

    /// The last `errno` of the database's file or its log; 0 where neither failed.
    static func ofFiles(_ connection: OpaquePointer?) -> Int32 {
        var code: Int32 = 0
        guard unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &code) == SQLITE_OK, code != 0
        else {
            return unsafe ofLog(connection)
        }
        return code
    }

    /// `SQLITE_IOERR_SHMSIZE`: the log's index, which SQLite does not open as a file of its own.
    private static let ofIndex = SQLITE_IOERR | 19 << 8

    /// https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html
    private static func ofLog(_ connection: OpaquePointer?) -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        var code: Int32 = 0
        guard unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK,
            let file = unsafe file, let methods = unsafe file.pointee.pMethods,
            let control = unsafe methods.pointee.xFileControl,
            unsafe control(file, SQLITE_FCNTL_LAST_ERRNO, &code) == SQLITE_OK
        else { return 0 }
        return code
    }
}
