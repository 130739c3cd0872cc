// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
internal import Glibc

extension LedgerError {
    /// Sorts an extended result code of SQLite (https://sqlite.org/rescode.html).
    ///
    /// A write that fails for another reason than ENOSPC, a quota for one, is `SQLITE_IOERR_WRITE`; the log's index
    /// that can't grow is `SQLITE_IOERR_SHMSIZE`.
    init(code: Int32, message: String) {
        let detail = "SQLite \(code): \(message)"
        switch code & 0xFF {
        case SQLITE_FULL:
            self = .full(detail: detail)
        case SQLITE_IOERR where Self.outOfSpaceCodes.contains(code >> 8):
            self = .full(detail: detail)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self = .corrupt(detail: detail)
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = .busy(detail: detail)
        default:
            self = .other(code: code, message: message)
        }
    }

    /// Sorts whatever GRDB throws.
    init(_ error: any Error) {
        if let error = error as? LedgerError {
            self = error
        } else if let error = error as? DatabaseError {
            self.init(code: error.extendedResultCode.rawValue, message: error.message ?? "no message")
        } else {
            self = .other(code: SQLITE_ERROR, message: String(describing: error))
        }
    }

    /// Tells of a failed system call.
    init(errno code: Int32, doing what: String) {
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        let message = "\(what): \(reason)"
        self = code == ENOSPC || code == EDQUOT ? .full(detail: message) : .other(code: -code, message: message)
    }

    /// The second bytes of `SQLITE_IOERR_WRITE` and `SQLITE_IOERR_SHMSIZE`.
    private static let outOfSpaceCodes: [Int32] = [3, 19]
}
