// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The runs of a function on a queue of its own, of which there is one at a time.
final class CollectorRuns: Sendable {
    private let collect: @Sendable () -> Void
    private let queue = DispatchQueue(label: "metrics-collector")
    /// Entered and left with the state locked, so that who sees a run going on waits for that run.
    private let runs = DispatchGroup()
    private let state = Mutex(State())

    private struct State {
        var isRunning = false
        /// Whether a scrape has waited in vain for the run that is going on.
        var isLate = false
    }

    init(_ collect: @escaping @Sendable () -> Void) {
        self.collect = collect
    }

    /// Starts the function unless it is running already.
    func start() {
        let starts = state.withLock { state in
            if state.isRunning { return false }
            state.isRunning = true
            runs.enter()
            return true
        }
        if !starts { return }
        queue.async { [self] in
            collect()
            state.withLock { state in
                state = State()
                runs.leave()
            }
        }
    }

    /// Waits for the end of the run that is going on, unless an earlier scrape has done so in vain.
    func wait(until deadline: DispatchTime) {
        if state.withLock({ !$0.isRunning || $0.isLate }) { return }
        if runs.wait(timeout: deadline) == .timedOut {
            state.withLock { $0.isLate = $0.isRunning }
        }
    }
}
