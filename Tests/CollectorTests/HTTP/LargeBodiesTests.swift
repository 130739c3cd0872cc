// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Collector

@Suite("Large bodies")
struct LargeBodiesTests {
    @Test("leave the threads of other tasks alone")
    func others() async throws {
        let gate = DispatchSemaphore(value: 0)
        let works = 2 * ProcessInfo.processInfo.activeProcessorCount
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<works {
                group.addTask {
                    try await LargeBodies.run { gate.wait(timeout: .now() + 30) == .success ? 1 : 0 }
                }
            }
            // Runs only if the works above, more of them than there are threads for tasks, wait elsewhere.
            group.addTask {
                for _ in 0..<works { gate.signal() }
                return 0
            }
            return try await group.reduce(0, +)
        }
        #expect(done == works)
    }

    @Test("are not the usual ones, and compressed ones are large sooner")
    func sizes() {
        #expect(!LargeBodies.isLarge(200_000, isCompressed: false))
        #expect(LargeBodies.isLarge(300_000, isCompressed: false))
        #expect(!LargeBodies.isLarge(20_000, isCompressed: true))
        #expect(LargeBodies.isLarge(200_000, isCompressed: true))
    }

    @Test("pass on what the work throws")
    func failure() async {
        await #expect(throws: CancellationError.self) {
            try await LargeBodies.run { throw CancellationError() }
        }
    }
}
