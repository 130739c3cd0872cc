// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A function that a registry runs for its scrapes, until it is unregistered.
///
/// Those of `onCollect(_:)` and of metrics without labels run on the scraping thread, and the scrape waits for them.
///
/// All others run on a queue of their own, once at a time. A scrape starts them and waits for them, for all together at
/// most as long as `RegistryLimits.collectionMilliseconds` tells; after that the page shows what they set last, and the
/// scrapes that follow neither start one again nor wait for it while it is still running. What one throws is counted in
/// `metrics_registry_failed_collections_total`.
///
/// The registry holds the function, and with it all that the function captures. One that captures the registry keeps it
/// alive until it is unregistered: let it capture instruments, or the registry weakly.
public final class MetricsCollector: Sendable {
    /// What the collector was called, or the metric that it computes; failures are counted under it.
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

    /// One that never runs, after a conflict.
    static func detached(_ name: String) -> MetricsCollector {
        MetricsCollector(name, .onScrapingThread {}) { _ in }
    }

    /// Takes the function from the registry, with the metric that it alone computes, if it does. A run that is going on
    /// goes on to its end, unseen.
    public func unregister() {
        isRegistered.store(false, ordering: .relaxed)
        remove(self)
    }

    /// Whether the function may throw.
    var canFail: Bool {
        if case .onQueue = work { true } else { false }
    }

    /// Runs the function here, if that is where it belongs.
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
    /// Runs those of the scraping thread in their order, then all others at once, for which it waits no longer than that
    /// many milliseconds.
    func run(milliseconds: Int) {
        for collector in self { collector.runHere() }
        for collector in self { collector.start() }
        let deadline = DispatchTime.now() + .milliseconds(milliseconds)
        for collector in self { collector.wait(until: deadline) }
    }
}

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
