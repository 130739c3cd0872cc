// SPDX-License-Identifier: Apache-2.0

/// What became of a datagram.
public enum JournalSendResult: Hashable, Sendable {
    /// It is in journald's queue, or in the queue of a journald that will never read it: only reading back tells.
    case sent
    /// journald's queue is full; wait until the socket is writable.
    case wouldBlock
    /// The connection is of no more use; make a new socket.
    case absent(SystemError)
    /// It doesn't fit into a datagram and couldn't be passed as a sealed memory file either.
    case tooLarge(SystemError)
}
