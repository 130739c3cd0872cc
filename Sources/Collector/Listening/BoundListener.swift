// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of CDispatch, CoreFoundation and Glibc, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import Journald

/// A socket that listens; nothing is accepted from it yet.
struct BoundListener: Sendable {
    /// What was asked for.
    let listener: Listener
    /// Non-blocking and not inherited by other programs. Whoever accepts from it closes it.
    let descriptor: Int32
    /// Where it really listens.
    let place: ListeningPlace
    /// The file of the socket, where we made it; removed when listening ends.
    let file: SocketFile?
    /// Whether the service manager handed it over, and may hand it to the next process.
    let isInherited: Bool

    /// Gives up listening.
    func close() {
        _ = Glibc.close(descriptor)
        file?.remove()
    }
}

/// A socket that the service manager has handed over (sd_listen_fds(3)).
struct InheritedSocket: Hashable, Sendable {
    /// Its `FileDescriptorName=`.
    let name: String
    let descriptor: Int32

    /// What this process was started with; the second time nothing.
    static func take() throws -> [InheritedSocket] {
        try InheritedDescriptors.take().all.map { InheritedSocket(name: $0.name, descriptor: $0.number) }
    }
}

/// Where a socket listens.
enum ListeningPlace: Hashable, Sendable, CustomStringConvertible {
    case internet(host: String, port: Int)
    case unix(path: String)

    var description: String {
        switch self {
        case .internet(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

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
