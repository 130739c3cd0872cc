// SPDX-License-Identifier: Apache-2.0

/// The size of the unconfirmed datagrams, for the limit of bytes in flight.
struct DatagramLog: Sendable {
    private struct Datagram: Sendable {
        let last: UInt64
        let bytes: Int
    }

    private var datagrams: [Datagram] = []
    private var head = 0
    private(set) var bytes = 0

    mutating func append(last: UInt64, bytes: Int) {
        datagrams.append(Datagram(last: last, bytes: bytes))
        self.bytes += bytes
    }

    /// Removes the datagrams whose entries are all confirmed.
    mutating func release(upTo position: UInt64) {
        while head < datagrams.count, datagrams[head].last <= position {
            bytes -= datagrams[head].bytes
            head += 1
        }
        if head == datagrams.count {
            removeAll()
        } else if head > 1_024, head > datagrams.count / 2 {
            datagrams.removeSubrange(..<head)
            head = 0
        }
    }

    mutating func removeAll() {
        datagrams.removeAll(keepingCapacity: true)
        head = 0
        bytes = 0
    }
}
