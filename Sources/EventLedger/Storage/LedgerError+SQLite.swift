// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
internal import Glibc

extension LedgerError {
    /// Sorts an extended result code of SQLite (https://sqlite.org/rescode.html).
    ///
    /// `SQLITE_FULL` is a write that met ENOSPC. A quota, a file system that finds out later that it is full, and the log's
    /// index that can't grow are kinds of `SQLITE_IOERR`, as a failing disk is: `systemError` tells which.
    ///
    /// - Parameter systemError: the `errno` that SQLite met (https://sqlite.org/c3ref/system_errno.html).
    init(code: Int32, systemError: Int32, message: String) {
        let detail = "SQLite \(code): \(message)"
        switch code & 0xFF {
        case SQLITE_FULL:
            self = .full(detail: detail)
        case SQLITE_IOERR where Self.writingCodes.contains(code >> 8):
            let reason = Self.text(of: systemError)
            self =
                Self.isLackOfSpace(systemError)
                ? .full(detail: "\(detail): \(reason)") : .other(code: code, message: "\(message): \(reason)")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self = .corrupt(detail: detail)
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = .busy(detail: detail)
        default:
            self = .other(code: code, message: message)
        }
    }

    /// Sorts whatever GRDB throws.
    ///
    /// - Parameter database: the connection that it comes from, before anything else is done with it; nil where there is
    ///   none.
    init(_ error: any Error, in database: Database?) {
        if let error = error as? LedgerError {
            self = error
        } else if let error = error as? DatabaseError {
            let code = error.extendedResultCode.rawValue
            let systemError = database.map { unsafe SystemError.last(of: $0.sqliteConnection, code) } ?? 0
            self.init(code: code, systemError: systemError, message: error.message ?? "no message")
        } else {
            self = .other(code: SQLITE_ERROR, message: String(describing: error))
        }
    }

    /// Tells of a failed system call.
    init(errno code: Int32, doing what: String) {
        let message = "\(what): \(Self.text(of: code))"
        self = Self.isLackOfSpace(code) ? .full(detail: message) : .other(code: -code, message: message)
    }

    /// The second bytes of `SQLITE_IOERR_WRITE`, `_FSYNC`, `_DIR_FSYNC`, `_TRUNCATE` and `_SHMSIZE`.
    private static let writingCodes: [Int32] = [3, 4, 5, 6, 19]

    private static func isLackOfSpace(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    private static func text(of code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
