// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// TCP ports of the loopback on which nobody listens, for programs that cannot choose one themselves.
///
/// They lie below the range from which the system takes ports by itself, and no two calls get the same one, so that
/// nobody else takes a port before the program listens on it.
package enum FreePort {
    package struct NotFound: Error {
        package let code: Int32
    }

    private static let range: Range<UInt16> = 12_000..<32_000
    private static let next = Atomic(UInt16.random(in: range))

    package static func any() throws -> Int {
        for _ in 0..<1_000 {
            let (old, _) = next.wrappingAdd(1, ordering: .relaxed)
            let port = range.lowerBound + old % UInt16(range.count)
            switch try bindError(port) {
            case 0: return Int(port)
            case EADDRINUSE: continue
            case let code: throw NotFound(code: code)
            }
        }
        throw NotFound(code: EADDRINUSE)
    }

    /// Why a port cannot be listened on; 0 if it can.
    private static func bindError(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw NotFound(code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}
