// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A raw connection over which a test sends any bytes at any time, without blocking a thread for long.
package final class RawConnection: Sendable {
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    private let descriptor: Int32
    private let received = Mutex((bytes: [UInt8](), isAtEnd: false))

    package init(port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        descriptor = try Self.connected(AF_INET, address)
    }

    package init(path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        descriptor = try Self.connected(AF_UNIX, address)
    }

    deinit { close(descriptor) }

    private static func connected<Address>(_ family: CInt, _ address: Address) throws -> Int32 {
        let descriptor = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        let status = unsafe withUnsafeBytes(of: address) { bytes -> CInt in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw Failed(description: "cannot connect: errno \(code)")
        }
        return descriptor
    }

    /// False once the other side has closed.
    @discardableResult
    package func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// A request without a body, and its answer.
    package func ask(_ path: String) async throws -> String {
        send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try await receive { _ in false }
    }

    /// The unread bytes, as soon as they suffice or the other side has closed.
    package func receive(until suffices: (String) -> Bool) async throws -> String {
        try await awaited("an answer comes", every: .milliseconds(2)) {
            listen()
            return received.withLock { received -> String? in
                let text = String(decoding: received.bytes, as: UTF8.self)
                guard received.isAtEnd || suffices(text) else { return nil }
                received.bytes = []
                return text
            }
        }
    }

    /// Whether there are unread bytes.
    package var hasUnreadBytes: Bool {
        listen()
        return received.withLock { !$0.bytes.isEmpty }
    }

    package var isClosed: Bool {
        listen()
        return received.withLock { $0.isAtEnd }
    }

    private func listen() {
        received.withLock { received in
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while !received.isAtEnd {
                let count = unsafe buffer.withUnsafeMutableBytes {
                    unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
                }
                if count < 0, errno == EAGAIN { return }
                if count <= 0 { received.isAtEnd = true } else { received.bytes += buffer[..<count] }
            }
        }
    }
}

/// The status code of an answer's first line.
package func status(of answer: String) -> Int? {
    answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
}
