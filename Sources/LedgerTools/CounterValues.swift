// SPDX-License-Identifier: Apache-2.0

internal import LedgerState
internal import MetricsRegistry

/// The samples that a projection comes to on the metrics page, by name and labels.
struct CounterValues: Equatable {
    /// Memory depends on how a table came to its content.
    private static let unstable: Set<String> = ["dnp_telemetry_remembered_identities_bytes"]

    private var samples: [String: String] = [:]

    init(_ projection: LedgerProjection) {
        let registry = MetricsRegistry(now: { 0 })
        let own = Set(registry.descriptors.map(\.name))
        var metrics = ProjectionMetrics(registry, created: 0, journal: nil)
        metrics.publish(projection)
        let names = Set(registry.descriptors.map(\.name)).subtracting(own).subtracting(Self.unstable)
        for line in String(decoding: registry.exposition(names: names), as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { continue }
            samples[String(line[..<space])] = String(line[line.index(after: space)...])
        }
    }

    /// What differs, by name; what one side does not have is nothing there.
    func differences(from rebuilt: CounterValues) -> [RebuildReport.Counter] {
        Set(samples.keys).union(rebuilt.samples.keys).sorted().compactMap { name in
            let saved = samples[name]
            let other = rebuilt.samples[name]
            return saved == other ? nil : RebuildReport.Counter(name: name, saved: saved, rebuilt: other)
        }
    }
}
