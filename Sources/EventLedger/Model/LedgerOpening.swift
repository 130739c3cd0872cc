// SPDX-License-Identifier: Apache-2.0

/// What was found when a ledger was opened.
public enum LedgerOpening: Sendable, Equatable {
    /// There was none; a new one was made.
    case created
    /// It was there and sound.
    case opened
    /// It was damaged; its files were renamed to `path` (with `-wal` and `-shm` beside it) and a new one was made.
    case setAside(path: String, reason: String)
}

extension LedgerOpening: CustomStringConvertible {
    /// One sentence for the log.
    public var description: String {
        switch self {
        case .created: "made a new ledger"
        case .opened: "opened the ledger"
        case .setAside(let path, let reason):
            "the ledger was damaged (\(reason)); it is kept as \(path), and a new one was made"
        }
    }
}
