// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The tasks that answer the requests of connections, each begun on its connection's event loop.
///
/// A task group cannot be added to from there, and a sequence of connections drops those that come when it ends.
final class ConnectionTasks: Sendable {
    private struct State {
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func run(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let number = state.next
            state.next += 1
            state.running[number] = Task {
                await body()
                ended(number)
            }
        }
    }

    private func ended(_ number: Int) {
        let waiting = state.withLock { state in
            state.running[number] = nil
            guard state.running.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when none runs.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.running.isEmpty { state.waiting.append(continuation) }
                return state.running.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    func cancel() {
        for task in state.withLock({ Array($0.running.values) }) { task.cancel() }
    }
}
