// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Glibc
import TestSupport
import Testing

@testable import Collector

/// A client of a socket of lines.
final class LinesClient {
    private var descriptor: Int32
    private var received: [UInt8] = []

    init(path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafeBytes(of: address) { bytes -> CInt in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if status != 0 { throw Program.Failure(description: "cannot connect to \(path): errno \(errno)") }
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Sends what the service takes at once, and returns how much that was.
    func offer(_ bytes: ArraySlice<UInt8>) -> Int {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        return max(0, unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags) })
    }

    /// Sends all, as the service takes it, and takes in its answers meanwhile.
    func send(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) async {
        var rest = bytes[...]
        await waitUntil("all is sent", sourceLocation: sourceLocation) {
            receive()
            while !rest.isEmpty {
                let count = offer(rest)
                if count == 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    func send(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        await send(Array(text.utf8), sourceLocation: sourceLocation)
    }

    /// Sends nothing more.
    func finish() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Takes in the answers that are there; false at their end.
    @discardableResult
    func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            received += buffer[..<count]
        }
    }

    /// How many bytes of answers wait to be taken in.
    var waiting: Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        return max(0, unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)))
    }

    /// The whole lines that were answered.
    var answers: [String] {
        let end = received.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return String(decoding: received[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// How many lines are durable, as the last answer tells.
    var durable: Int { answers.last { $0.hasPrefix("ok ") }.flatMap { Int($0.dropFirst(3)) } ?? 0 }
    var rejected: [String] { answers.filter { $0.hasPrefix("rejected ") } }

    func expectDurable(_ lines: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        await waitUntil("\(lines) lines are durable", sourceLocation: sourceLocation) {
            receive()
            return durable >= lines
        }
        #expect(durable == lines, sourceLocation: sourceLocation)
    }

    /// Waits until the service has closed the connection.
    func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) async {
        await waitUntil("the connection is closed", sourceLocation: sourceLocation) { !receive() }
    }
}
