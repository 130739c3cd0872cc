// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Collector

@Suite("A prompt reading")
struct PromptReadingTests {
    private final class Reads: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    @Test("is the value now, and the one before while the value does not come or cannot be read")
    func patience() async {
        let gate = Gate()
        let reads = Reads()
        let reading = PromptReading { () -> Int? in
            let count = reads.next()
            if count == 2 { gate.pass() }
            return count > 2 ? nil : count
        }
        #expect(reading.value == 1)
        #expect(reading.value == 1, "the second reading waits")
        #expect(reading.value == 1, "and no third is begun")
        gate.open()
        await waitUntil("the second reading is done") { reading.value == 2 }
        #expect(reading.value == 2, "a reading that fails leaves the value before")
    }
}
