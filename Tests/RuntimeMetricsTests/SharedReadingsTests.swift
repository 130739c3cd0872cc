// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing

@testable import RuntimeMetrics

@Suite("Readings of /proc")
struct SharedReadingsTests {
    @Test("hold up no other scrape")
    func concurrent() {
        let readings = SharedReadings()
        var uses = 0
        readings.use { _ in
            uses += 1
            let ended = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                readings.use { _ in Issue.record("two threads use them at once") }
                ended.signal()
            }
            #expect(ended.wait(timeout: .now() + 20) == .success)
        }
        readings.use { _ in uses += 1 }
        #expect(uses == 2)
    }
}
