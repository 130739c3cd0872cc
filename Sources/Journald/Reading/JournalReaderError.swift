// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a journal can't be read.
public enum JournalReaderError: Error, Hashable, CustomStringConvertible {
    /// libsystemd couldn't open the journal.
    case open(JournalLocation, SystemError)
    /// The journal's files are there and this process may not read them; libsystemd would show an empty journal.
    case permission(path: String, user: UInt32)
    /// A call of libsystemd failed.
    case call(String, SystemError)
    /// Reading failed again after the journal had been opened anew at its last entry.
    case unreadable(attempts: Int, SystemError)

    /// Whether one entry alone can't be read: it is damaged, or compressed in a way that libsystemd doesn't know here.
    public var isOfOneEntry: Bool {
        guard case .call(_, let error) = self else { return false }
        return error.code == EBADMSG || error.code == EPROTONOSUPPORT
    }

    /// What was expected, what was found and what to do.
    public var description: String {
        switch self {
        case .open(let location, let error):
            "\(location) couldn't be opened: \(error)"
        case .permission(let path, let user):
            """
            user \(user) may not read \(path), so no entry would ever be seen; run as root or in group \
            systemd-journal or adm
            """
        case .call(let name, let error):
            "\(name) failed: \(error)"
        case .unreadable(let attempts, let error):
            """
            the journal was opened anew \(attempts) times at its last entry read and still can't be read: \(error); \
            check its files with journalctl --verify
            """
        }
    }
}
