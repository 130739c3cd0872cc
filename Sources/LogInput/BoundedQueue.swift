// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Hands values from one thread to another, in order, at most so many at a time.
package final class Handover<Value: Sendable>: Sendable {
    private let depth: Int
    private let values = Mutex<[Value]>([])
    /// Announces that a value was put or taken.
    private let change = NSCondition()

    package init(depth: Int) {
        self.depth = depth
    }

    /// Waits for room and puts a value behind the others.
    package func put(_ value: Value) {
        change.lock()
        defer { change.unlock() }
        while values.withLock({ $0.count >= depth }) { change.wait() }
        values.withLock { $0.append(value) }
        change.signal()
    }

    /// Waits for a value and takes it.
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
