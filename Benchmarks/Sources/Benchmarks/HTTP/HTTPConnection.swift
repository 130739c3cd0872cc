// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A kept-alive connection with one request under way at most; what cannot be done at once waits for poll(2).
final class HTTPConnection {
    private let socket: LoopbackSocket
    private var request: PreparedRequest?
    private var sent = 0
    private var received = [UInt8](repeating: 0, count: 64 << 10)
    private var filled = 0

    init(_ socket: consuming LoopbackSocket) {
        self.socket = socket
    }

    /// What poll(2) should wait for.
    var interest: pollfd {
        let isSending = sent < request?.bytes.count ?? 0
        return pollfd(fd: socket.descriptor, events: Int16(isSending ? POLLOUT | POLLIN : POLLIN), revents: 0)
    }

    func begin(_ request: PreparedRequest) throws {
        self.request = request
        sent = 0
        filled = 0
        try send()
    }

    /// Goes on after poll(2) has told of something.
    ///
    /// - Returns: The answer, once it is whole.
    func proceed(_ events: Int16) throws -> HTTPAnswer? {
        if Int32(events) & POLLOUT != 0 { try send() }
        return Int32(events) & ~POLLOUT != 0 ? try receive() : nil
    }

    /// Sends a request and waits for its answer.
    func exchange(_ request: PreparedRequest) throws -> HTTPAnswer {
        try begin(request)
        while true {
            var interest = interest
            guard unsafe poll(&interest, 1, 60_000) > 0 else { throw BenchmarkFailure("no answer in a minute") }
            if let answer = try proceed(interest.revents) { return answer }
        }
    }

    private func send() throws {
        guard let request else { return }
        while sent < request.bytes.count {
            let count = unsafe request.bytes.withUnsafeBytes { bytes in
                unsafe write(socket.descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            }
            guard count > 0 else {
                if errno == EAGAIN { return }
                throw BenchmarkFailure("the request could not be sent: error \(errno)")
            }
            sent += count
        }
    }

    private func receive() throws -> HTTPAnswer? {
        if filled == received.count { received.append(contentsOf: repeatElement(0, count: received.count)) }
        let count = unsafe received.withUnsafeMutableBytes { bytes in
            unsafe read(socket.descriptor, bytes.baseAddress?.advanced(by: filled), bytes.count - filled)
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return nil }
            throw BenchmarkFailure("the service closed the connection")
        }
        filled += count
        return try HTTPAnswer(received[..<filled])
    }
}
