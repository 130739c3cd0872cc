// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A client of a Unix socket that sends all it has, says that it sends no more, and reads until the other side closes.
struct SocketClient {
    /// How long the other side may be silent, in seconds.
    private static let patience = 10

    let path: String

    /// - Parameter pieces: what is sent at once.
    /// - Returns: all that came; nil if the other side has neither answered nor closed in time.
    func exchange(_ pieces: [[UInt8]]) -> [UInt8]? {
        let descriptor = connected()
        defer { close(descriptor) }
        for piece in pieces { send(piece, descriptor) }
        shutdown(descriptor, Int32(SHUT_WR))
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count > 0 {
                received += buffer[..<count]
            } else if count == 0 || errno == ECONNRESET {
                return received
            } else if errno != EINTR {
                return nil
            }
        }
    }

    private func connected() -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = path.utf8CString
        let length = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count <= length else { fatalError("\(path) is too long for a socket") }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            unsafe name.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        let result = unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { finding("no connection: \(unsafe String(cString: strerror(errno)))") }
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// Sends as far as the other side takes it: one that has refused a request may have closed.
    private func send(_ bytes: [UInt8], _ descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
