// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import TelemetryEvents

extension Judgement {
    /// The families of the lifecycle as a scrape of the service would show them (Prometheus text 0.0.4).
    public func exposition() -> [UInt8] {
        let registry = MetricsRegistry(now: { 0 })
        let own = Set(registry.descriptors.map(\.name))
        let metrics = LifecycleMetrics(registry, created: 0)
        registry.update { metrics.set(totals, openCycles: 0) }
        return registry.exposition(names: Set(registry.descriptors.map(\.name)).subtracting(own))
    }
}
