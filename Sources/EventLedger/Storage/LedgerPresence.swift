// SPDX-License-Identifier: Apache-2.0

/// Whether a directory holds a ledger, judged by its files alone.
public enum LedgerPresence: Sendable, Equatable {
    /// There was none yet, or the creation of one was interrupted.
    case none
    /// There is a database with content, sound or not.
    case present
    /// There was one: its database is missing or empty, and other files of it are there.
    case lost(LostLedger)

    /// Looks at the files of a directory, which may be missing, and opens none of them.
    public static func find(in directory: String) throws(LedgerError) -> LedgerPresence {
        let files = LedgerFiles(directory: directory)
        if try files.isInCreation() { return .none }
        let size = try files.databaseBytes()
        if let size, size > 0 { return .present }
        let traces = try files.traces()
        guard size != nil || !traces.isEmpty else { return .none }
        let bytes = try files.size(of: files.database)
        return .lost(LostLedger(files, bytes: bytes, traces: traces))
    }
}

/// A ledger whose database is missing or empty.
///
/// Creating a new one in its place would begin all counters at 0 without a word, so the service does not start.
public struct LostLedger: Error, Sendable, Equatable {
    /// The database's path.
    public let path: String
    /// What was found instead.
    public let problem: String

    fileprivate init(_ files: LedgerFiles, bytes: Int64?, traces: [String]) {
        path = files.database
        let others = traces.isEmpty ? "" : "\(traces.joined(separator: ", ")) beside it"
        problem =
            if let bytes {
                (bytes == 0 ? "the file is empty" : "the file has a single byte")
                    + (others.isEmpty ? "" : ", with \(others)")
            } else {
                "the file is missing, with \(others)"
            }
    }
}

extension LostLedger: CustomStringConvertible {
    /// What was expected, what was found and what to do.
    public var description: String {
        "expected the ledger in \(path), but \(problem); restore it from a backup, or move ledger.* out of the directory to "
            + "begin a new one with all counters at 0 (installation.key may stay: pseudonyms then stay the same)"
    }
}
