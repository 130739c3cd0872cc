// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Whose a connection is, for the limits of connections.
///
/// Everybody on this machine has 16 million addresses of the loopback, so these are one client.
enum ConnectionClient: Hashable, Sendable {
    case address(ClientAddress)
    case loopback
    /// A user of this machine, over a Unix socket.
    case user(uid_t)

    /// The client of a connection from an address; nil for a Unix socket, see ``init(peerOf:)``.
    init?(_ address: SocketAddress?) {
        guard let address = ClientAddress(address) else { return nil }
        self = address.isLoopback ? .loopback : .address(address)
    }

    /// The user who has connected to a Unix socket (SO_PEERCRED, unix(7)); nil for other sockets.
    init?(peerOf descriptor: Int32) {
        // struct ucred, which glibc declares for C with _GNU_SOURCE only.
        var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0,
            credentials.process > 0
        else { return nil }
        self = .user(credentials.user)
    }

    /// Whether the client is on this machine. It may be a reverse proxy that brings all clients.
    var isLocal: Bool {
        switch self {
        case .address: false
        case .loopback, .user: true
        }
    }
}
