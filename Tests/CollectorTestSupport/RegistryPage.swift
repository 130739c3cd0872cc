// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry
import PrefetchLifecycle
import TestSupport

@testable package import LedgerState
@testable package import LifecycleMetrics

/// A page of metrics as its samples.
package struct RegistryPage: Equatable {
    private let samples: [String: String]

    package init(_ registry: MetricsRegistry) {
        samples = MetricsPage.texts(registry.exposition())
    }

    /// The page of a projection, as the service would show it.
    package init(of projection: LedgerProjection, created: Int64 = startOfTest, labels: [LifecycleLabel] = []) {
        let registry = MetricsRegistry(now: { startOfTest })
        var metrics = ProjectionMetrics(registry, created: created, journal: nil, labels: labels)
        metrics.publish(projection)
        self.init(registry)
    }

    /// The value of a sample, by its name with its labels.
    package subscript(_ name: String) -> Int? { samples[name].flatMap { Int($0) } }

    /// The value of a sample that need not be whole.
    package func number(_ name: String) -> Double? { samples[name].flatMap { Double($0) } }

    /// The names of the samples, with their labels.
    package var names: [String] { samples.keys.sorted() }

    /// The names of the labels of a family's samples, but for those of histograms' bounds.
    package func labels(of family: String) -> Set<String> {
        let series = samples.keys.filter { $0.hasPrefix("\(family){") || $0.hasPrefix("\(family)_count{") }
        let pairs = series.flatMap { $0.drop { $0 != "{" }.dropFirst().dropLast().split(separator: ",") }
        return Set(pairs.map { String($0.prefix { $0 != "=" }) })
    }

    /// The sums over all values of some labels.
    package func summed(over labels: [LifecycleLabel]) -> [String: Double] {
        var sums: [String: Double] = [:]
        for (name, value) in samples {
            let pairs = name.split(separator: "{").dropFirst().first?.dropLast().split(separator: ",") ?? []
            let kept = pairs.filter { pair in !labels.contains { pair.hasPrefix("\($0.rawValue)=") } }
            let family = name.prefix { $0 != "{" }
            sums[kept.isEmpty ? String(family) : "\(family){\(kept.joined(separator: ","))}", default: 0] +=
                Double(value) ?? .nan
        }
        return sums
    }

    /// The samples that differ, for messages.
    package func difference(from other: RegistryPage) -> [String] {
        Set(samples.keys).union(other.samples.keys).sorted().compactMap { name in
            samples[name] == other.samples[name]
                ? nil : "\(name) \(samples[name] ?? "absent"), not \(other.samples[name] ?? "absent")"
        }
    }
}

extension RegistryPage {
    package var accepted: Int? { self["dnp_telemetry_events_accepted_total"] }
    package var duplicates: Int? { self["dnp_telemetry_events_duplicate_total"] }
    package var scheduled: Int? { self["dnp_prefetch_scheduled_total"] }
    package var openCycles: Int? { self["dnp_prefetch_open_cycles"] }

    package var received: Int { sum("dnp_telemetry_events_received_total{") }
    package var rejected: Int { sum("dnp_telemetry_events_rejected_total{") }

    /// The accepted events with each effect.
    package var effects: [String: Int] {
        Dictionary(
            uniqueKeysWithValues: AcceptedEffect.allCases.map { effect in
                ("\(effect.name)", self["dnp_telemetry_accepted_effects_total{effect=\"\(effect.name)\"}"] ?? 0)
            }
        )
    }

    /// accepted - (counted + repeated_stage + informational + late): 0 when all adds up.
    package var effectBalance: Int { (accepted ?? 0) - effects.values.reduce(0, +) }

    /// By how much the lifecycle's counters grew, by cause.
    package var increments: Int { sum("dnp_telemetry_lifecycle_increments_total{") }

    /// The sum of the lifecycle's counters that events count in.
    package var lifecycleCounters: Int { Self.eventCounters.reduce(0) { $0 + sum($1) } }

    private static let eventCounters = [
        "dnp_prefetch_scheduled_total", "dnp_prefetch_executed_total", "dnp_prefetch_success_total",
        "dnp_prefetch_failure_total", "dnp_prefetch_used_for_notification_total", "dnp_prefetch_expired_total",
        "dnp_prefetch_missed_window_total", "dnp_prefetch_fallback_total", "dnp_prefetch_lead_capped_total",
        "dnp_prefetch_retries_total", "dnp_notification_delivered_total", "dnp_notification_drift_exceeded_total",
        "dnp_content_cache_failures_total", "dnp_plugin_errors_total", "dnp_prefetch_not_modified_total",
        "dnp_prefetch_api_calls_total",
    ]

    private func sum(_ prefix: String) -> Int {
        samples.reduce(0) { $0 + ($1.key.hasPrefix(prefix) ? Int($1.value) ?? 0 : 0) }
    }
}
