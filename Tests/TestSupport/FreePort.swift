// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A TCP port of the loopback that nobody listens on.
enum FreePort {
    struct NotFound: Error {
        let code: Int32
    }

    static func any() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw NotFound(code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                let bound = unsafe bind(descriptor, generic, length)
                return bound == 0 ? unsafe getsockname(descriptor, generic, &length) : bound
            }
        }
        guard result == 0 else { throw NotFound(code: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
