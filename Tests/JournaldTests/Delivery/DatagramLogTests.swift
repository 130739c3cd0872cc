// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Bytes underway")
struct DatagramLogTests {
    @Test("a datagram counts until its last entry is confirmed")
    func release() {
        var log = DatagramLog()
        log.append(last: 10, bytes: 100)
        log.append(last: 20, bytes: 200)
        log.release(upTo: 9)
        #expect(log.bytes == 300)
        log.release(upTo: 10)
        #expect(log.bytes == 200)
        log.release(upTo: 25)
        #expect(log.bytes == 0)
    }

    @Test("many datagrams add up to nothing in the end")
    func many() {
        var log = DatagramLog()
        for last in 1...5_000 as ClosedRange<UInt64> { log.append(last: last, bytes: 3) }
        for last in 1...5_000 as ClosedRange<UInt64> {
            log.release(upTo: last)
            #expect(log.bytes == 3 * (5_000 - Int(last)))
        }
    }
}
