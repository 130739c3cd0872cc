// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Connects as a client does.
enum SocketProbe {
    static func connects(port: Int) -> Bool {
        guard let client = connected(port: port) else { return false }
        close(client)
        return true
    }

    /// A client's socket that is connected to a port of 127.0.0.1 or else ::1; nil where nobody listens.
    ///
    /// - Parameter receiveBuffer: how much the system keeps for it unread, in bytes; nil: as usual.
    static func connected(port: Int, receiveBuffer: Int32? = nil) -> Int32? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        if let client = connected(AF_INET, address, receiveBuffer) { return client }
        var other = sockaddr_in6()
        other.sin6_family = sa_family_t(AF_INET6)
        other.sin6_port = in_port_t(port).bigEndian
        other.sin6_addr = in6addr_loopback
        return connected(AF_INET6, other, receiveBuffer)
    }

    static func connects(path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        guard let client = connected(AF_UNIX, address) else { return false }
        close(client)
        return true
    }

    static func nameOfGroup(_ id: gid_t) -> String? {
        guard let entry = unsafe getgrgid(id) else { return nil }
        return unsafe String(cString: entry.pointee.gr_name)
    }

    private static func connected<Address>(
        _ family: CInt,
        _ address: Address,
        _ receiveBuffer: Int32? = nil
    ) -> Int32? {
        let client = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            unsafe setsockopt(client, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        let status = unsafe withUnsafeBytes(of: address) { bytes -> CInt in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe connect(client, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if status == 0 { return client }
        close(client)
        return nil
    }
}
