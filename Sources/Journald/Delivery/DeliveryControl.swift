// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc
internal import Synchronization
internal import SystemPrimitives

/// What a writer's thread and its owner share: statistics, the checkpoint and the request to stop.
final class DeliveryControl: Sendable {
    /// How the writer is asked to end.
    enum Ending: Sendable, Equatable {
        case no
        /// Deliver what is possible before the given monotonic time in nanoseconds.
        case draining(until: UInt64)
        /// End at once, with entries possibly unconfirmed.
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

    /// Whether the time to deliver what is left is over.
    var isPastDeadline: Bool {
        switch ending {
        case .no: false
        case .draining(let until): SystemClock.monotonicNanoseconds() >= until
        case .now: true
        }
    }

    func publish(_ statistics: JournalDeliveryStatistics, _ checkpoint: JournalCheckpoint) {
        state.withLock {
            $0.statistics = statistics
            $0.checkpoint = checkpoint
        }
    }

    /// Asks the thread to end; a later request can only bring the end forward.
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

    /// Resumes everyone who waits for the thread's end.
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

/// An eventfd(2) that wakes a thread from poll(2); a wake-up before the wait is not lost.
final class WakeDescriptor: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        let made = csystemd_event_descriptor()
        guard made >= 0 else { throw .last }
        descriptor = made
    }

    deinit {
        close(descriptor)
    }

    /// Makes the descriptor readable.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits in poll(2) for a wake-up, which it consumes, or for another descriptor; -1 stands for none.
    ///
    /// - Parameter milliseconds: The maximum time; -1 for no limit.
    func wait(
        readable: Int32,
        writable: Int32,
        milliseconds: Int32
    ) -> (isWoken: Bool, isReadable: Bool, isWritable: Bool) {
        var requests = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: readable, events: Int16(POLLIN), revents: 0),
            pollfd(fd: writable, events: Int16(POLLOUT), revents: 0),
        ]
        _ = unsafe poll(&requests, nfds_t(requests.count), milliseconds)
        if requests[0].revents != 0 { clear() }
        return (requests[0].revents != 0, requests[1].revents != 0, requests[2].revents != 0)
    }

    /// Consumes the wake-ups so far, so that the descriptor is not readable.
    func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
