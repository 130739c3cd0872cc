// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A function that a registry runs for its scrapes, until it is unregistered.
///
/// It runs on a queue of its own, once at a time. A scrape starts it and waits for it, for all collectors together at most
/// as long as `RegistryLimits.collectionMilliseconds` tells; after that the page shows what it set last, and the scrapes that
/// follow neither start it again nor wait for it while it is still running. What it throws is counted in
/// `metrics_registry_failed_collections_total`.
public final class MetricsCollector: Sendable {
    /// The name under which failures are counted.
    public let name: String

    private let collect: @Sendable () throws -> Void
    private let failures: Counter
    private let remove: @Sendable (MetricsCollector) -> Void
    private let queue: DispatchQueue
    private let runs = DispatchGroup()
    private let state = Mutex(State())

    private struct State {
        var isRegistered = true
        var isRunning = false
        /// Whether a scrape has waited in vain for the run that is going on.
        var isLate = false
    }

    init(
        _ name: String,
        failures: Counter,
        remove: @escaping @Sendable (MetricsCollector) -> Void,
        collect: @escaping @Sendable () throws -> Void
    ) {
        self.name = name
        self.failures = failures
        self.remove = remove
        self.collect = collect
        queue = DispatchQueue(label: "metrics-collector")
    }

    /// Takes the function from the registry, with the metric that it alone computes, if it does. A run that is going on
    /// goes on to its end, unseen.
    public func unregister() {
        state.withLock { $0.isRegistered = false }
        remove(self)
    }

    /// Starts the function unless it is running already.
    func start() {
        let starts = state.withLock { state in
            if state.isRunning || !state.isRegistered { return false }
            state.isRunning = true
            return true
        }
        if !starts { return }
        runs.enter()
        queue.async { [self] in
            do { try collect() } catch { failures.add() }
            state.withLock { state in
                state.isRunning = false
                state.isLate = false
            }
            runs.leave()
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

extension [MetricsCollector] {
    /// Runs all at once and waits for them, no longer than that many milliseconds.
    func run(milliseconds: Int) {
        if isEmpty { return }
        let deadline = DispatchTime.now() + .milliseconds(milliseconds)
        for collector in self { collector.start() }
        for collector in self { collector.wait(until: deadline) }
    }
}
