// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Collector

@Suite("The service listens")
struct AllListeningTests {
    private func address(_ path: String) -> ListeningAddress {
        ListeningAddress(place: .unix(path: path), services: .ingest, scheme: "http")
    }

    @Test(
        "once each part does, whichever comes last, and tells it once",
        arguments: [[.http, .lines], [.lines, .http]] as [[StartupBarrier.Part]]
    )
    func all(order: [StartupBarrier.Part]) {
        let told = Mutex<[[ListeningAddress]]>([])
        let listening = StartupBarrier { addresses in told.withLock { $0.append(addresses) } }
        listening.begins(order[0], at: [address("/\(order[0])")])
        #expect(told.withLock { $0 } == [])
        listening.begins(order[0], at: [])
        #expect(told.withLock { $0 } == [], "the same part again is not the other one")
        listening.begins(order[1], at: [address("/\(order[1])")])
        listening.begins(order[1], at: [])
        #expect(told.withLock { $0 } == [[address("/http"), address("/lines")]])
    }
}
