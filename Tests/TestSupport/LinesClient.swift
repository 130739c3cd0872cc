// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A client of the line socket that never blocks.
package final class LinesClient {
    private var descriptor: Int32
    private var received: [UInt8] = []

    package init(path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafeBytes(of: address) { bytes -> CInt in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if status != 0 { throw MissingDependency(description: "cannot connect to \(path): errno \(errno)") }
    }

    deinit { close() }

    package func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Sends what the service accepts at once, and returns how many bytes that was.
    package func offer(_ bytes: ArraySlice<UInt8>) -> Int {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        return max(0, unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags) })
    }

    /// Closes the sending side.
    package func finish() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Reads the answers that have arrived; false at their end.
    @discardableResult
    package func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            received += buffer[..<count]
        }
    }

    /// How many bytes of answers have arrived and are not read.
    package var waiting: Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        return max(0, unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)))
    }

    /// The complete lines of the answers.
    package var answers: [String] {
        let end = received.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return String(decoding: received[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// How many lines are durable, by the last answer.
    package var durable: Int { answers.last { $0.hasPrefix("ok ") }.flatMap { Int($0.dropFirst(3)) } ?? 0 }
    package var rejected: [String] { answers.filter { $0.hasPrefix("rejected ") } }
}

extension LinesClient {
    private static let pollPause = Duration.milliseconds(2)

    /// Sends all, as the service takes it, and takes in its answers meanwhile.
    package func sendAll(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        try await eventually("all lines are sent", every: Self.pollPause) {
            receive()
            while !rest.isEmpty {
                let count = offer(rest)
                if count == 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    package func sendAll(_ text: String) async throws { try await sendAll(Array(text.utf8)) }

    /// Waits until so many lines are durable, and no more.
    package func waitUntilDurable(_ lines: Int) async throws {
        try await eventually("\(lines) lines are durable, the answers are \(answers.suffix(3))", every: Self.pollPause)
        {
            receive()
            return durable == lines
        }
    }

    /// Waits until the service has closed the connection.
    package func waitUntilClosed() async throws {
        try await eventually("the service closes the connection", every: Self.pollPause) { !receive() }
    }

    /// Sends lines over a connection of their own, and waits until all of them are answered.
    package static func sent(_ bytes: [UInt8], to path: String) async throws -> LinesClient {
        let client = try LinesClient(path: path)
        try await client.sendAll(bytes)
        client.finish()
        try await client.waitUntilDurable(bytes.count { $0 == UInt8(ascii: "\n") })
        return client
    }
}
