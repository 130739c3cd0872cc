// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Collector

@Suite("The watch over directories")
struct DirectoryWatchTests {
    /// Runs the watch on a thread of its own; the gate is reached when it has ended.
    private static func run(_ watch: DirectoryWatch) -> Gate {
        let gate = Gate()
        gate.open()
        Thread.detachNewThread {
            watch.run()
            gate.pass()
        }
        return gate
    }

    @Test("wakes whoever follows a file there, at the start, for what happens and until it is stopped")
    func wakes() async throws {
        let first = try TemporaryDirectory()
        let second = try TemporaryDirectory()
        let counts = Mutex([0, 0])
        let watch = DirectoryWatch([first.file("a.log"), second.file("b.log")]) { index in
            counts.withLock { $0[index] += 1 }
        }
        let hasEnded = Self.run(watch)
        await waitUntil("both are looked at once") { counts.withLock { $0.allSatisfy { $0 > 0 } } }
        for _ in 0..<3 {
            let before = counts.withLock { $0[0] }
            try Files.write([1], to: first.file("a.log"))
            await waitUntil("the change is told") { counts.withLock { $0[0] > before } }
        }
        watch.stop()
        await waitUntil("it ends") { hasEnded.isReached }
    }

    @Test("looks at what cannot be watched, too")
    func absentDirectory() async throws {
        let count = Atomic(0)
        let watch = DirectoryWatch(["/nonexistent/device.log"]) { _ in count.add(1, ordering: .relaxed) }
        let hasEnded = Self.run(watch)
        await waitUntil("it is looked at again and again") { count.load(ordering: .relaxed) > 2 }
        watch.stop()
        await waitUntil("it ends") { hasEnded.isReached }
    }
}
