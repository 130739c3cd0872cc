// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A bounded blocking queue between two threads.
package final class BoundedQueue<Value: Sendable>: Sendable {
    private let depth: Int
    private let values = Mutex<[Value]>([])
    /// Signalled when a value was added or removed.
    private let change = NSCondition()

    package init(depth: Int) {
        self.depth = depth
    }

    /// Appends a value; blocks while the queue is full.
    package func put(_ value: Value) {
        change.lock()
        defer { change.unlock() }
        while values.withLock({ $0.count >= depth }) { change.wait() }
        values.withLock { $0.append(value) }
        change.signal()
    }

    /// Removes the first value; blocks while the queue is empty.
    package func take() -> Value {
        change.lock()
        defer { change.unlock() }
        while true {
            let value = values.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let value {
                change.signal()
                return value
            }
            change.wait()
        }
    }
}
