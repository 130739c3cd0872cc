// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// A non-blocking datagram socket connected to journald's native socket.
///
/// Unlike `sd_journal_sendv` it never blocks: a full queue gives ``JournalSendResult/wouldBlock``. It is connected,
/// because poll(2) reports room in the receiver's queue for a connected socket only.
public struct JournalSocket: ~Copyable {
    /// The path of journald's native socket (systemd-journald.service(8)).
    public static let defaultPath = "/run/systemd/journal/socket"

    /// The requested size of the send buffer, in bytes; libsystemd requests the same.
    private static let sendBufferBytes: Int32 = 8 << 20

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
    /// - Parameter milliseconds: The maximum time.
    /// - Returns: Whether to send again: there is room, or the connection is broken.
    public func waitUntilWritable(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, max(0, milliseconds)) > 0
    }

    /// The result for an error of a send.
    private static func result(of error: SystemError) -> JournalSendResult {
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

    /// Passes entries as a fully sealed memory file with an empty payload.
    ///
    /// journald maps such a file without a copy, because the seals prove that no process can change it.
    func sendAsMemoryFile(_ entries: borrowing RawSpan) -> JournalSendResult {
        let file = unsafe csystemd_memory_file("journal-entries")
        guard file >= 0 else { return .tooLarge(.last) }
        defer { close(file) }
        var written = 0
        while written < entries.byteCount {
            let count = unsafe entries.withUnsafeBytes { bytes in
                unsafe write(file, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            }
            guard count > 0 else { return .tooLarge(.last) }
            written += count
        }
        guard csystemd_seal_memory_file(file) == 0 else { return .tooLarge(.last) }
        guard csystemd_send_descriptor(descriptor, file) < 0 else { return .sent }
        return Self.result(of: .last)
    }
}

/// The result of a send.
public enum JournalSendResult: Hashable, Sendable {
    /// The datagram is in the socket's queue. Whether journald stores it is known only by reading it back.
    case sent
    /// journald's queue is full; wait until the socket is writable.
    case wouldBlock
    /// The connection is broken; make a new socket.
    case absent(SystemError)
    /// It does not fit into a datagram and could not be passed as a sealed memory file either.
    case tooLarge(SystemError)
}

/// Why a socket to journald could not be made.
public enum JournalSocketError: Error, Hashable, CustomStringConvertible {
    /// The path does not fit into a socket address.
    case path(String, limit: Int)
    /// The process got no socket.
    case create(SystemError)
    /// Nothing listens at the path.
    case connect(path: String, SystemError)

    /// The problem and what to do about it.
    public var description: String {
        switch self {
        case .path(let path, let limit):
            "journal socket path \"\(path)\" is empty or has more than \(limit) bytes; give a shorter one"
        case .create(let error):
            "no socket for journald: \(error); check the limit of open files"
        case .connect(let path, let error):
            "journald was expected at \(path): \(error); check that systemd-journald runs"
        }
    }
}

/// The address of a Unix domain socket with a path.
private struct SocketAddress {
    private var address = sockaddr_un()

    init(path: String) throws(JournalSocketError) {
        let limit = MemoryLayout.size(ofValue: address.sun_path) - 1
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= limit, !bytes.contains(0) else { throw .path(path, limit: limit) }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Connects a socket to the address.
    ///
    /// - Returns: The error, if there was one.
    func connect(_ socket: Int32) -> SystemError? {
        let result = unsafe withUnsafeBytes(of: address) { bytes -> Int32 in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe Glibc.connect(socket, base, socklen_t(bytes.count))
        }
        return result == 0 ? nil : .last
    }
}
