// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The address of a Unix domain socket in the file system.
struct SocketAddress {
    private var address = sockaddr_un()

    init(path: String) throws(JournalSocketError) {
        let limit = MemoryLayout.size(ofValue: address.sun_path) - 1
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= limit, !bytes.contains(0) else { throw .path(path, limit: limit) }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Connects a socket to the address.
    ///
    /// - Returns: The error, if there was one.
    func connect(_ socket: Int32) -> SystemError? {
        let result = unsafe withUnsafeBytes(of: address) { bytes -> Int32 in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe Glibc.connect(socket, base, socklen_t(bytes.count))
        }
        return result == 0 ? nil : .last
    }
}
