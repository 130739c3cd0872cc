// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A value that is read from where one may have to wait, for readers who must not: where a new one does not come at
/// once, they get the one before.
final class PromptReading<Value: Sendable>: Sendable {
    /// How long a reading is waited for.
    private static var patience: DispatchTimeInterval { .milliseconds(50) }

    private struct State {
        var latest: Value?
        var isReading = false
    }

    private let read: @Sendable () -> Value?
    private let state = Mutex(State())

    /// - Parameter read: reads the value, on another thread, once at a time; nil when it cannot be read.
    init(_ read: @escaping @Sendable () -> Value?) {
        self.read = read
    }

    /// The value now, or the last that could be read; nil when none ever could.
    var value: Value? {
        if begin() {
            let isRead = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                self.finish(self.read())
                isRead.signal()
            }
            _ = isRead.wait(timeout: .now() + Self.patience)
        }
        return state.withLock { $0.latest }
    }

    private func begin() -> Bool {
        state.withLock { state in
            let begins = !state.isReading
            state.isReading = true
            return begins
        }
    }

    private func finish(_ value: Value?) {
        state.withLock { state in
            if let value { state.latest = value }
            state.isReading = false
        }
    }
}
