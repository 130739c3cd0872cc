// SPDX-License-Identifier: Apache-2.0

/// What a ``DeliverySession`` asks for next.
enum DeliveryStep: Equatable, Sendable {
    /// Make a new connection and open the journal; then ``DeliverySession/connected(now:)``.
    case connect
    /// Send a datagram of markers: the first holds two entries, the second one.
    case sendMarkers(MarkerDatagram)
    /// Look whether the last marker has come back, again and again up to the given time.
    case lookForMarkers(until: UInt64)
    /// Read which entries stand in the journal; then ``DeliverySession/scanned(now:)``.
    case scan
    /// Read entries from the source, up to the given number, and send them.
    case deliver(entries: Int)
    /// Nothing to do before the given time, an entry read back, a wake-up, or (when asked for) room in the queue.
    case wait(until: UInt64?, forRoom: Bool)
}

/// One of the two datagrams that a synchronisation sends.
enum MarkerDatagram: Equatable, Sendable {
    /// Two entries, which prove that journald stores both.
    case pair
    /// One entry, behind which nothing sent before is still to come.
    case last
}
