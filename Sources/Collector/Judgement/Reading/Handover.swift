// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Hands values from one thread to another, in order, at most so many at a time.
final class Handover<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let room: DispatchSemaphore
    private let waiting = DispatchSemaphore(value: 0)

    init(depth: Int) {
        room = DispatchSemaphore(value: depth)
    }

    /// Waits for room and puts a value behind the others.
    func put(_ value: consuming Value) {
        room.wait()
        let value = value
        values.withLock { $0.append(value) }
        waiting.signal()
    }

    /// Waits for a value and takes it.
    func take() -> Value? {
        waiting.wait()
        defer { room.signal() }
        return values.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
