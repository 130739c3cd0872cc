// SPDX-License-Identifier: Apache-2.0

/// Why the ledger did not do what was asked.
public enum LedgerError: Error, Sendable, Equatable {
    /// There is no space left to write. Nothing was stored; the same call works once there is space.
    case full(detail: String)
    /// The database is damaged. Opening it anew sets it aside.
    case corrupt(detail: String)
    /// One batch is damaged; reading after its id skips it.
    case damagedBatch(id: Int64, detail: String)
    /// One page of a projection's state is damaged; the projection has to be rebuilt from the ledger.
    case damagedState(projection: String, key: StateKey)
    /// Another connection holds the database for longer than the ledger waits.
    case busy(detail: String)
    /// Another process, or another ledger of this one, works in the directory.
    case locked(directory: String, holder: Int32?)
    /// The ledger was written by a newer version.
    case newerSchema(found: Int64, supported: Int64, path: String)
    /// There is no ledger at the path, and none may be made.
    case absent(path: String)
    /// The call itself makes no sense; `detail` says what was expected.
    case refused(detail: String)
    /// Anything else, with SQLite's extended result code or, in negative, the `errno`.
    case other(code: Int32, message: String)
}

extension LedgerError {
    /// Whether nothing but room or a lock was missing: the ledger works, goes on by itself, and a restart is of no use.
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
            "no space left for the ledger (\(detail)); nothing was stored: free some space, and it goes on by itself"
        case .corrupt(let detail):
            "the ledger is damaged (\(detail)); a restart sets it aside and begins a new one"
        case .damagedBatch(let id, let detail):
            "batch \(id) of the ledger is damaged (\(detail)); read on after it to skip it"
        case .damagedState(let projection, let key):
            "the saved state '\(key)' of projection '\(projection)' is damaged; rebuild the projection from the ledger"
        case .busy(let detail):
            "another connection keeps the ledger busy (\(detail)); close whatever else has it open"
        case .locked(let directory, let holder):
            "the ledger in \(directory) is in use by \(holder.map { "process \($0)" } ?? "another process"); "
                + "stop that one, or use another directory"
        case .newerSchema(let found, let supported, let path):
            "\(path) has schema \(found) and this version knows up to \(supported); use the version that wrote it"
        case .absent(let path):
            "there is no ledger at \(path)"
        case .refused(let detail):
            "refused: \(detail)"
        case .other(let code, let message):
            "the ledger failed with code \(code): \(message)"
        }
    }
}
