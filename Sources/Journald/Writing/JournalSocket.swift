// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// A non-blocking datagram socket connected to journald's native socket.
///
/// It never blocks, unlike `sd_journal_sendv`: a full queue is told as ``JournalSendResult/wouldBlock``. Connected,
/// because only then poll(2) reports room in the receiver's queue.
public struct JournalSocket: ~Copyable {
    /// Where journald's native socket stands (systemd-journald.service(8)).
    public static let defaultPath = "/run/systemd/journal/socket"

    /// The size asked for the send buffer, in bytes; libsystemd asks for the same.
    static let sendBufferBytes: Int32 = 8 << 20

    let descriptor: Int32

    /// A socket connected to the given path.
    public init(path: String = JournalSocket.defaultPath) throws(JournalSocketError) {
        let address = try SocketAddress(path: path)
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let made = socket(AF_UNIX, kind, 0)
        guard made >= 0 else { throw .create(.last) }
        let failure = address.connect(made)
        if let failure {
            close(made)
            throw .connect(path: path, failure)
        }
        descriptor = made
        raiseSendBuffer()
    }

    deinit {
        close(descriptor)
    }

    /// Sends entries as one datagram, or as a sealed memory file when they are too large for a datagram.
    public func send(_ entries: borrowing RawSpan) -> JournalSendResult {
        let count = unsafe entries.withUnsafeBytes { bytes in
            unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        guard count < 0 else { return .sent }
        let error = SystemError.last
        return switch error.code {
        case EMSGSIZE, ENOBUFS: sendAsMemoryFile(entries)
        default: Self.result(of: error)
        }
    }

    /// Sends entries as one datagram, or as a sealed memory file when they are too large for a datagram.
    public func send(_ entries: [UInt8]) -> JournalSendResult {
        unsafe send(entries.span.bytes)
    }

    /// Waits until there is room in journald's queue.
    ///
    /// - Parameter milliseconds: How long at most.
    /// - Returns: Whether a send is worth trying: there is room, or the connection has broken.
    public func waitUntilWritable(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, max(0, milliseconds)) > 0
    }

    /// What an error of a send means.
    static func result(of error: SystemError) -> JournalSendResult {
        switch error.code {
        case EAGAIN, EINTR, ETOOMANYREFS: .wouldBlock
        default: .absent(error)
        }
    }

    private func raiseSendBuffer() {
        var size = Self.sendBufferBytes
        let length = socklen_t(MemoryLayout<Int32>.size)
        if unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &size, length) < 0 {
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, length)
        }
    }
}
