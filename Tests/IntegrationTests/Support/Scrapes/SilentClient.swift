// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A client that asks for something several times and reads the answers late or never; its connection closes with it.
///
/// It asks for more than the system takes that nobody reads, so that an answer is held up.
final class SilentClient: Sendable {
    struct Failed: Error {
        let what: String
        let code: Int32
    }

    /// As small as the system allows, so that little of an answer is under way unread.
    private static let receiveBuffer: Int32 = 4_096

    /// What the system keeps at most of what is sent over a connection and not read: the last number, in bytes.
    private static let sendBuffers = "/proc/sys/net/ipv4/tcp_wmem"

    private let descriptor: Int32
    /// How many answers it asks for.
    let times: Int

    /// - Parameters:
    ///   - bytes: the size of an answer.
    ///   - spare: how many answers more than are needed it asks for.
    init(
        port: Int,
        asking path: String = "/metrics",
        answersOf bytes: Int,
        spare: Int = 0,
        headers: [String] = []
    ) throws {
        let kept = text(of: Self.sendBuffers).split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) }
        times = (kept ?? 4 << 20) / max(bytes, 1) + 2 + spare
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(what: "socket", code: errno) }
        var size = Self.receiveBuffer
        let length = socklen_t(MemoryLayout<Int32>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failed(what: "connect", code: errno) }
        let head = (["GET \(path) HTTP/1.1", "Host: localhost"] + headers).joined(separator: "\r\n") + "\r\n\r\n"
        let requests = Array(String(repeating: head, count: times).utf8)
        let sent = unsafe requests.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == requests.count else { throw Failed(what: "send", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Reads a little now and then until the fact holds.
    func readSlowly(until holds: () async throws -> Bool) async throws {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while try await !holds() {
            _ = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// All that comes until the other side closes the connection, or nothing more comes for five seconds.
    func readAll() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&interest, 1, 5_000) > 0 else { return bytes }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
