// SPDX-License-Identifier: Apache-2.0

internal import GRDBSQLite

/// The `errno` behind an error of SQLite.
enum SystemError {
    /// Where a commit fails, SQLite before 3.41 does not tell the connection: the file of its log knows.
    static func last(of connection: OpaquePointer?, _ code: Int32) -> Int32 {
        guard code & 0xFF == SQLITE_IOERR else { return 0 }
        let ofLog = code == Self.ofIndex ? 0 : unsafe ofLog(connection)
        return ofLog != 0 ? ofLog : unsafe sqlite3_system_errno(connection)
    }

    /// `SQLITE_IOERR_SHMSIZE`, the log's index, which is no file of SQLite's.
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
