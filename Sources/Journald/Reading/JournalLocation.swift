// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// Which journal to read.
public enum JournalLocation: Hashable, Sendable, CustomStringConvertible {
    /// This machine's journal.
    case machine
    /// A journal namespace of this machine (`LogNamespace=`).
    case namespace(String)
    /// The files in a directory.
    case directory(String)

    /// The native socket of the journald that writes this journal.
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

/// Which of the journal's files a reader opens (sd_journal_open(3)).
public struct JournalScope: OptionSet, Hashable, Sendable {
    /// One bit for each choice; the bits are this type's own.
    public let rawValue: Int32

    /// A scope of the given bits.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Only files of this machine.
    public static let localOnly = JournalScope(rawValue: 1 << 0)
    /// Only files that do not survive a reboot.
    public static let runtimeOnly = JournalScope(rawValue: 1 << 1)
    /// Files of system services and the kernel.
    public static let system = JournalScope(rawValue: 1 << 2)
    /// Files of the current user.
    public static let currentUser = JournalScope(rawValue: 1 << 3)
    /// Files of all namespaces.
    public static let allNamespaces = JournalScope(rawValue: 1 << 4)

    /// The flags of libsystemd.
    var flags: Int32 {
        var flags: Int32 = 0
        if contains(.localOnly) { flags |= Int32(SD_JOURNAL_LOCAL_ONLY) }
        if contains(.runtimeOnly) { flags |= Int32(SD_JOURNAL_RUNTIME_ONLY) }
        if contains(.system) { flags |= Int32(SD_JOURNAL_SYSTEM) }
        if contains(.currentUser) { flags |= Int32(SD_JOURNAL_CURRENT_USER) }
        if contains(.allNamespaces) { flags |= Int32(SD_JOURNAL_ALL_NAMESPACES) }
        return flags
    }
}
