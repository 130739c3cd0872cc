// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a writer's thread and its owner share.
final class DeliveryControl: Sendable {
    /// How far the writer has been asked to end.
    enum Ending: Sendable, Equatable {
        case no
        /// Deliver what can be delivered before the given monotonic time in nanoseconds.
        case draining(until: UInt64)
        /// Leave at once, with entries possibly underway.
        case now
    }

    private struct State: Sendable {
        var statistics = JournalDeliveryStatistics()
        var checkpoint: JournalCheckpoint
        var ending = Ending.no
        var hasEnded = false
        var waiters: [CheckedContinuation<JournalCheckpoint, Never>] = []
    }

    let wakeDescriptor: WakeDescriptor
    private let state: Mutex<State>

    init(checkpoint: JournalCheckpoint) throws(SystemError) {
        wakeDescriptor = try WakeDescriptor()
        state = Mutex(State(checkpoint: checkpoint))
    }

    var statistics: JournalDeliveryStatistics { state.withLock { $0.statistics } }
    var checkpoint: JournalCheckpoint { state.withLock { $0.checkpoint } }
    var ending: Ending { state.withLock { $0.ending } }

    func publish(_ statistics: JournalDeliveryStatistics, _ checkpoint: JournalCheckpoint) {
        state.withLock {
            $0.statistics = statistics
            $0.checkpoint = checkpoint
        }
    }

    /// Asks the thread to end; a later request can only make it end sooner.
    func end(_ ending: Ending) {
        state.withLock { state in
            switch (state.ending, ending) {
            case (.now, _), (_, .no): break
            case (.draining(let earlier), .draining(let until)): state.ending = .draining(until: min(earlier, until))
            default: state.ending = ending
            }
        }
        wakeDescriptor.wake()
    }

    /// Waits for the thread's end.
    func waitForEnd() async -> JournalCheckpoint {
        await withCheckedContinuation { continuation in
            let ended: JournalCheckpoint? = state.withLock { state in
                if state.hasEnded { return state.checkpoint }
                state.waiters.append(continuation)
                return nil
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    /// The thread has ended.
    func ended() {
        let (waiters, checkpoint) = state.withLock { state in
            state.hasEnded = true
            let waiters = state.waiters
            state.waiters = []
            return (waiters, state.checkpoint)
        }
        for waiter in waiters { waiter.resume(returning: checkpoint) }
    }
}
