// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// A prepared statement whose blobs are bound without a copy and read with a single one.
///
/// GRDB compiles and caches the statement; values go to and from SQLite directly, because GRDB's arguments and rows pass
/// through `Foundation.Data`. Indexes of parameters start at 1, those of columns at 0.
@safe struct LedgerStatement {
    private let handle: OpaquePointer
    private let statement: Statement

    /// Takes the statement from the connection's cache, or compiles it.
    init(_ sql: String, in database: Database) throws(LedgerError) {
        do {
            statement = try database.cachedStatement(sql: sql)
            unsafe handle = statement.sqliteStatement
        } catch {
            throw LedgerError(error, in: database)
        }
    }

    func bind(_ value: Int64, at index: Int32) throws(LedgerError) {
        try check(unsafe sqlite3_bind_int64(handle, index, value))
    }

    /// Binds a copy of a text.
    func bind(_ value: String, at index: Int32) throws(LedgerError) {
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var value = value
        let code = value.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                unsafe sqlite3_bind_text64(
                    handle,
                    index,
                    text.baseAddress,
                    sqlite3_uint64(text.count),
                    copied,
                    UInt8(SQLITE_UTF8)
                )
            }
        }
        try check(code)
    }

    /// Binds bytes without a copy for as long as `body` runs.
    func binding<R>(
        _ bytes: [UInt8],
        at index: Int32,
        _ body: () throws(LedgerError) -> R
    ) throws(LedgerError) -> R {
        guard !bytes.isEmpty else {
            try check(unsafe sqlite3_bind_zeroblob(handle, index, 0))
            return try body()
        }
        let result: Result<R, LedgerError> = unsafe bytes.withUnsafeBytes { buffer in
            Result { () throws(LedgerError) -> R in
                try check(
                    unsafe sqlite3_bind_blob64(handle, index, buffer.baseAddress, sqlite3_uint64(buffer.count), nil)
                )
                return try body()
            }
        }
        return try result.get()
    }

    /// Advances to the next row; false when there is none.
    func step() throws(LedgerError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Runs to the end, ignoring rows.
    func run() throws(LedgerError) {
        while try step() {}
    }

    /// Ends the execution, and with it the read transaction that it may hold, and clears the bindings.
    func reset() {
        _ = unsafe sqlite3_reset(handle)
        _ = unsafe sqlite3_clear_bindings(handle)
    }

    func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    func isInteger(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER
    }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ column: Int32) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }

    private func check(_ code: Int32) throws(LedgerError) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> LedgerError {
        let database = unsafe sqlite3_db_handle(handle)
        let message = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) }
        return LedgerError(
            code: code,
            systemError: unsafe SQLiteSystemError.last(of: database, code),
            message: message ?? "no message"
        )
    }
}
