// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A client that sends what it likes, byte by byte if need be, and reads when it likes. It never blocks a thread.
final class RawClient: Sendable {
    struct Failed: Error {
        let what: String
    }

    private let descriptor: Int32
    private let received = Mutex((bytes: [UInt8](), isAtEnd: false))

    /// - Parameter receiveBuffer: how much the system keeps for it unread, in bytes; nil: as usual.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        guard let descriptor = SocketProbe.connected(port: port, receiveBuffer: receiveBuffer) else {
            throw Failed(what: "nobody listens on port \(port)")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// False once the other side takes no more.
    @discardableResult
    func send(_ text: String) -> Bool {
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

    /// Says that nothing more is sent.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// What has come and was not taken, as soon as it suffices or the other side has closed.
    func receive(until suffices: (String) -> Bool) async throws -> String {
        let limit = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < limit {
            read()
            let (text, isAtEnd) = received.withLock { (String(decoding: $0.bytes, as: UTF8.self), $0.isAtEnd) }
            if isAtEnd || suffices(text) {
                received.withLock { $0.bytes = [] }
                return text
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Failed(what: "waited in vain; so far came \(received.withLock { $0.bytes.count }) bytes")
    }

    /// All that comes until the other side closes.
    func receiveAll() async throws -> String {
        try await receive { _ in false }
    }

    /// Whether the other side has closed.
    var isClosed: Bool {
        read()
        return received.withLock { $0.isAtEnd }
    }

    /// Whether anything has come.
    var hasReceived: Bool {
        read()
        return received.withLock { !$0.bytes.isEmpty }
    }

    private func read() {
        received.withLock { received in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
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
