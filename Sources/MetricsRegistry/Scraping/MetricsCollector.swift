// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A function that a registry runs for its scrapes, until it is unregistered.
///
/// The collectors of `onCollect(_:)` and of metrics without labels run on the scraping thread, and the scrape waits
/// for them.
///
/// All others run on queues of their own, each at most once at a time. A scrape starts them and waits for all of them
/// together for at most `RegistryLimits.collectionMilliseconds`. After that the page shows what they set last, and
/// later scrapes neither restart nor wait for one that is still running. Errors are counted in
/// `metrics_registry_failed_collections_total`.
///
/// The registry retains the function and what it captures. A function that captures the registry keeps it in memory
/// until it is unregistered: capture instruments, or the registry weakly.
public final class MetricsCollector: Sendable {
    /// The name of the collector, or of the metric that it computes; failures are counted under it.
    public let name: String

    private let work: Work
    private let remove: @Sendable (MetricsCollector) -> Void
    private let isRegistered = Atomic(true)

    /// Where the function runs.
    enum Work: Sendable {
        case onScrapingThread(@Sendable () -> Void)
        case onQueue(CollectorRuns)
    }

    init(_ name: String, _ work: Work, remove: @escaping @Sendable (MetricsCollector) -> Void) {
        self.name = name
        self.work = work
        self.remove = remove
    }

    /// A collector that never runs, returned after a conflict.
    static func detached(_ name: String) -> MetricsCollector {
        MetricsCollector(name, .onScrapingThread {}) { _ in }
    }

    /// Removes the function from the registry, with the metric that only it computes.
    ///
    /// A running call completes, without effect on a page.
    public func unregister() {
        isRegistered.store(false, ordering: .relaxed)
        remove(self)
    }

    /// Whether the function may throw.
    var canFail: Bool {
        if case .onQueue = work { true } else { false }
    }

    /// Runs the function on this thread, if it belongs on the scraping thread.
    fileprivate func runHere() {
        if case .onScrapingThread(let collect) = work, isRegistered.load(ordering: .relaxed) { collect() }
    }

    fileprivate func start() {
        if case .onQueue(let runs) = work, isRegistered.load(ordering: .relaxed) { runs.start() }
    }

    fileprivate func wait(until deadline: DispatchTime) {
        if case .onQueue(let runs) = work { runs.wait(until: deadline) }
    }
}

extension [MetricsCollector] {
    /// Runs the collectors of the scraping thread in order, then starts all others and waits at most `milliseconds`
    /// for them.
    func run(milliseconds: Int) {
        for collector in self { collector.runHere() }
        for collector in self { collector.start() }
        let deadline = DispatchTime.now() + .milliseconds(milliseconds)
        for collector in self { collector.wait(until: deadline) }
    }
}

/// Runs a function on its own queue, at most once at a time.
final class CollectorRuns: Sendable {
    private let collect: @Sendable () -> Void
    private let queue = DispatchQueue(label: "metrics-collector")
    /// Entered and left with the state locked, so that whoever sees a run in progress waits for that run.
    private let runs = DispatchGroup()
    private let state = Mutex(State())

    private struct State {
        var isRunning = false
        /// Whether a scrape has timed out waiting for the current run.
        var isLate = false
    }

    init(_ collect: @escaping @Sendable () -> Void) {
        self.collect = collect
    }

    /// Starts the function unless it is running.
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

    /// Waits for the current run, unless an earlier scrape has timed out waiting for it.
    func wait(until deadline: DispatchTime) {
        if state.withLock({ !$0.isRunning || $0.isLate }) { return }
        if runs.wait(timeout: deadline) == .timedOut {
            state.withLock { $0.isLate = $0.isRunning }
        }
    }
}
