// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry
package import PrefetchLifecycle

/// The families that are functions of the fold's totals alone, alike in the service and in `replay` (SPEC 6).
///
/// They are set after every commit: only what has changed is read, and instruments are looked up once.
package struct LifecycleInstruments: Sendable {
    private var cycles: GroupedFamilies
    private var telemetry: GroupedFamilies
    private let latest: LatestEvents
    private let openCycles: Gauge
    /// By the place of the group in the fold.
    private var revisions: [UInt64] = []

    /// - Parameters:
    ///   - registry: where the families stand.
    ///   - created: when counting began, in microseconds since 1970.
    ///   - labels: what the families of the lifecycle are told apart by, besides their own labels.
    ///   - isReceiver: whether events come when they are sent, so that clocks and arrival can be told of.
    package init(_ registry: MetricsRegistry, created: Int64, labels: [LifecycleLabel] = [], isReceiver: Bool) {
        cycles = GroupedFamilies(
            registry,
            counters: LifecycleCounterFamily.ofPrefetch + LifecycleCounterFamily.ofDelivery,
            histograms: LifecycleHistogramFamily.ofCycles,
            labels: LifecycleLabel.each(of: labels),
            created: created
        )
        telemetry = GroupedFamilies(
            registry,
            counters: LifecycleCounterFamily.ofTelemetry,
            histograms: isReceiver ? LifecycleHistogramFamily.ofReceiving : [],
            labels: [],
            created: created
        )
        latest = LatestEvents(registry)
        openCycles = registry.gauge("dnp_prefetch_open_cycles", help: "Cycles that are not closed yet.")
    }

    /// Sets all of them.
    ///
    /// - Parameters:
    ///   - groups: the groups of one fold, which are never fewer than before.
    ///   - open: how many cycles are open.
    package mutating func set(_ groups: [LifecycleGroup], openCycles open: Int, in update: inout MetricsUpdate) {
        for place in groups.indices {
            let isNew = place >= revisions.count
            guard isNew || revisions[place] != groups[place].revision else { continue }
            cycles.set(groups[place], at: place, in: &update)
            telemetry.set(groups[place], at: place, in: &update)
            latest.raise(to: groups[place].totals, in: &update)
            if isNew { revisions.append(0) }
            revisions[place] = groups[place].revision
        }
        update.set(openCycles, to: open)
    }

    /// Shows which schedules were counted last, where that is shown.
    package func attach(_ observations: [LifecycleObservation]) {
        for observation in observations { cycles.attach(observation) }
    }
}
