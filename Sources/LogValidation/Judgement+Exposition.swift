// SPDX-License-Identifier: Apache-2.0

package import LifecycleMetrics
internal import MetricsRegistry

extension Judgement {
    /// The families of the lifecycle as a scrape of the service would show them (Prometheus text 0.0.4).
    ///
    /// - Parameter labels: what they are told apart by, besides their own labels.
    package func exposition(labels: [LifecycleLabel] = []) -> [UInt8] {
        let registry = MetricsRegistry(now: { 0 })
        let own = Set(registry.descriptors.map(\.name))
        var metrics = LifecycleInstruments(registry, created: 0, labels: labels, isReceiver: false)
        registry.update { metrics.set(groups, openCycles: 0, in: &$0) }
        return registry.exposition(names: Set(registry.descriptors.map(\.name)).subtracting(own))
    }
}
