// SPDX-License-Identifier: Apache-2.0

/// Where a journal's files stand.
public enum JournalLocation: Hashable, Sendable, CustomStringConvertible {
    /// This machine's journal.
    case machine
    /// A journal namespace of this machine (`LogNamespace=`).
    case namespace(String)
    /// The files in a directory.
    case directory(String)

    /// Where the journald of this journal takes entries.
    public var socketPath: String {
        switch self {
        case .machine, .directory: JournalSocket.defaultPath
        case .namespace(let name): "/run/systemd/journal.\(name)/socket"
        }
    }

    /// The journal's name in messages.
    public var description: String {
        switch self {
        case .machine: "the machine's journal"
        case .namespace(let name): "journal namespace \(name)"
        case .directory(let path): "the journal in \(path)"
        }
    }
}
