// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The manager's end of `$NOTIFY_SOCKET`: a datagram socket at a path, or at an abstract name behind an `@`.
final class ListeningManager: Sendable {
    private let descriptor: Int32
    private let name: String

    init(_ name: String) throws {
        self.name = name
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = unsafe withUnsafeBytes(of: address) { raw -> Int32 in
            guard let base = unsafe raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe bind(descriptor, base, length)
        }
        guard result == 0 else { throw TestFailure("no socket at \(name): error \(errno)") }
    }

    deinit {
        close(descriptor)
        if !name.hasPrefix("@") { unsafe unlink(name) }
    }

    /// The messages that wait.
    func received() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return messages }
            messages.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}
