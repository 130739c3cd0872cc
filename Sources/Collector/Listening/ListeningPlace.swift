// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

extension ListeningPlace {
    /// Where a socket is bound (getsockname(2)); nil where it is to none of the kinds that are listened on.
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
