// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of CDispatch, CoreFoundation and Glibc, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import Journald

/// A listening socket from which nothing is accepted yet.
struct BoundListener: Sendable {
    /// The configured listener.
    let listener: Listener
    /// Non-blocking and close-on-exec. The server that accepts from it closes it.
    let descriptor: Int32
    /// The address it is bound to.
    let place: ListeningPlace
    /// The socket file that this process created; removed when listening ends.
    let file: SocketFile?
    /// Whether the service manager passed the socket, and may pass it to the next process.
    let isInherited: Bool

    /// Stops listening.
    func close() {
        _ = Glibc.close(descriptor)
        file?.remove()
    }
}

/// A socket passed by the service manager (sd_listen_fds(3)).
struct InheritedSocket: Hashable, Sendable {
    /// Its `FileDescriptorName=`.
    let name: String
    let descriptor: Int32

    /// Takes the sockets that this process was started with; a second call returns none.
    static func take() throws -> [InheritedSocket] {
        try InheritedDescriptors.take().all.map { InheritedSocket(name: $0.name, descriptor: $0.number) }
    }
}

/// The file of a Unix socket.
struct SocketFile: Hashable, Sendable {
    /// What exists at a path.
    enum Finding: Hashable, Sendable {
        case absent
        case socket(SocketFile)
        case other
    }

    let path: String
    private let identity: FileIdentity

    /// The socket at a path; nil if there is none.
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

    /// Removes the file unless it has been replaced by another.
    func remove() {
        if Self.look(path) == .socket(self) { _ = unsafe unlink(path) }
    }
}
