// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The writing side of a connection, without waiting.
///
/// It is a descriptor of its own: a channel whose client has gone before it took its answers would be closed by the first
/// failed write, with lines unread in the socket.
final class AnswerSocket: Sendable {
    enum Result: Equatable, Sendable {
        case sent(Int)
        case full
        case closed
    }

    private let descriptor: Int32

    /// - Parameter connection: the descriptor of a connection, which stays the caller's; nil when no other can be had.
    init?(_ connection: Int32) {
        let own = fcntl(connection, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        descriptor = own
    }

    deinit { close(descriptor) }

    func send(_ bytes: ArraySlice<UInt8>) -> Result {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        while true {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
            }
            if count >= 0 { return .sent(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .full
            default: return .closed
            }
        }
    }

    /// Whether the client has closed both directions, or has died.
    var isAbandoned: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
