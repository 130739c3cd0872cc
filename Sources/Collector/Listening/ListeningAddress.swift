// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// The address that a listener is bound to, and what it serves there.
package struct ListeningAddress: Hashable, Sendable {
    let place: ListeningPlace
    package let services: Listener.Services
    let scheme: String

    init(place: ListeningPlace, services: Listener.Services, scheme: String) {
        self.place = place
        self.services = services
        self.scheme = scheme
    }

    /// `http://127.0.0.1:10910/metrics`, or `unix:/run/http.sock /metrics`, with TLS `https+unix:`.
    ///
    /// A wildcard address is shown as the loopback address.
    package func url(_ path: String) -> String {
        switch place {
        case .internet: "\(scheme)://\(reachable)\(path)"
        case .unix: (scheme == "https" ? "https+\(place)" : "\(place)") + (path.isEmpty ? "" : " \(path)")
        }
    }

    /// The host that a client on this machine asks for.
    var host: String {
        switch reachable {
        case .internet(let host, _): host
        case .unix: "localhost"
        }
    }

    /// The arguments of `curl` for the path.
    ///
    /// - Parameter name: the name to ask for in place of the address.
    func curl(_ path: String, named name: String? = nil) -> String {
        switch reachable {
        case .internet(let host, let port):
            guard let name, name != host else { return url(path) }
            return "--connect-to \(name):\(port):\(reachable) \(scheme)://\(name):\(port)\(path)"
        case .unix(let socket): return "--unix-socket \(socket) \(scheme)://\(name ?? "localhost")\(path)"
        }
    }

    private var reachable: ListeningPlace {
        switch place {
        case .internet("0.0.0.0", let port): .internet(host: "127.0.0.1", port: port)
        case .internet("::", let port): .internet(host: "localhost", port: port)
        default: place
        }
    }
}

/// The local address of a listening socket.
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

extension ListeningPlace {
    /// The local address of a socket (getsockname(2)); nil for an unsupported address family.
    init?(of descriptor: Int32) {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address: SocketAddress? = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress,
                unsafe getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &size) == 0
            else { return nil }
            switch unsafe CInt(base.assumingMemoryBound(to: sockaddr.self).pointee.sa_family) {
            case AF_INET: return unsafe SocketAddress(base.assumingMemoryBound(to: sockaddr_in.self).pointee)
            case AF_INET6: return unsafe SocketAddress(base.assumingMemoryBound(to: sockaddr_in6.self).pointee)
            case AF_UNIX: return unsafe SocketAddress(base.assumingMemoryBound(to: sockaddr_un.self).pointee)
            default: return nil
            }
        }
        guard let address else { return nil }
        if let host = address.ipAddress, let port = address.port {
            self = .internet(host: host, port: port)
        } else if let path = address.pathname {
            self = .unix(path: path)
        } else {
            return nil
        }
    }
}
