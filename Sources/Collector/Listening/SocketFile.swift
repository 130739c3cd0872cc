// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// The file of a Unix socket.
struct SocketFile: Hashable, Sendable {
    /// What stands at a path.
    enum Finding: Hashable, Sendable {
        case absent
        case socket(SocketFile)
        case other
    }

    let path: String
    private let identity: FileIdentity

    /// The socket at a path; nil where there is none.
    init?(at path: String) {
        guard case .socket(let file) = Self.look(path) else { return nil }
        self = file
    }

    private init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    static func look(_ path: String) -> Finding {
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else { return .absent }
        guard information.st_mode & S_IFMT == S_IFSOCK else { return .other }
        return .socket(
            SocketFile(
                path: path,
                identity: FileIdentity(device: UInt64(information.st_dev), inode: UInt64(information.st_ino))
            )
        )
    }

    /// Removes it, unless another one has taken its place.
    func remove() {
        if Self.look(path) == .socket(self) { _ = unsafe unlink(path) }
    }
}
