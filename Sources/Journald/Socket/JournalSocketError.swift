// SPDX-License-Identifier: Apache-2.0

/// Why there is no socket to journald.
public enum JournalSocketError: Error, Hashable, CustomStringConvertible {
    /// The path doesn't fit into a socket address.
    case path(String, limit: Int)
    /// The process could make no socket.
    case create(SystemError)
    /// Nothing listens at the path.
    case connect(path: String, SystemError)

    /// What was expected, what was found and what to do.
    public var description: String {
        switch self {
        case .path(let path, let limit):
            "journal socket path \"\(path)\" is empty or has more than \(limit) bytes; give a shorter one"
        case .create(let error):
            "no socket could be made: \(error); check the limit of open files"
        case .connect(let path, let error):
            "journald was expected at \(path): \(error); check that systemd-journald runs"
        }
    }
}
