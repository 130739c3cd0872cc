// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// A state directory that cannot be read, in words for the one who named it.
package struct UnreadableLedger: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was expected, what was found and what to do.
    package let description: String

    /// SQLite's `SQLITE_READONLY` and `SQLITE_CANTOPEN`, the first byte of its extended codes, and the system's `EPERM` and
    /// `EACCES`, negative.
    private static func isForbidden(_ code: Int32) -> Bool {
        code == -1 || code == -13 || code > 0 && [8, 14].contains(code & 0xFF)
    }

    init(_ description: String) {
        self.description = description
    }

    init(_ error: LedgerError) {
        description =
            switch error {
            case .absent(let path): "there is no ledger at \(path); name the service's directory with --state-dir"
            case .other(let code, let message) where Self.isForbidden(code):
                "the ledger cannot be opened (\(message)); readers share the index of its write-ahead log: run this as "
                    + "the service's user or as root"
            default: error.description
            }
    }

    init(_ error: InstallationKeyError) {
        description = error.description
    }
}
