// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import Synchronization

/// A receiver of OTLP over HTTP/1.1 that reads each request, looks at nothing and answers 200.
///
/// Its threads give way to all others, as a receiver on another machine would take no core of this one.
final class SinkReceiver: Sendable {
    let port: UInt16
    private let listener: Int32
    private let taken = Atomic(0)

    /// Listens on a port; it has been chosen before where nobody may listen at first.
    init(port: UInt16) throws {
        self.port = port
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = LoopbackSocket.address(port: port)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 64) == 0 else {
            throw BenchmarkFailure("nobody can listen on port \(port): error \(errno)")
        }
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread {
                    self.serve(connection)
                    Glibc.close(connection)
                }
            }
        }
    }

    /// Bytes of bodies so far, as they were sent.
    var bytes: Int { taken.load(ordering: .relaxed) }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    private func serve(_ connection: Int32) {
        setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var filled = 0
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(connection, bytes.baseAddress?.advanced(by: filled), bytes.count - filled)
            }
            guard count > 0 else { return }
            filled += count
            guard let (head, length) = Self.head(buffer[..<filled]) else { continue }
            var rest = head + length - filled
            while rest > 0 {
                let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                    unsafe read(connection, bytes.baseAddress, min(bytes.count, rest))
                }
                guard count > 0 else { return }
                rest -= count
            }
            filled = 0
            taken.add(length, ordering: .relaxed)
            guard unsafe write(connection, answer, answer.count) == answer.count else { return }
        }
    }

    /// Where a request's body begins, and its length.
    private static func head(_ bytes: ArraySlice<UInt8>) -> (end: Int, length: Int)? {
        let text = String(decoding: bytes.prefix(4_096), as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"),
            let name = text.range(of: "content-length: ", options: .caseInsensitive),
            let length = Int(text[name.upperBound...].prefix { $0.isNumber })
        else { return nil }
        return (text[..<end.upperBound].utf8.count, length)
    }
}
