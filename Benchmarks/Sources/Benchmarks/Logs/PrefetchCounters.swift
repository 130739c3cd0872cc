// SPDX-License-Identifier: Apache-2.0

/// The samples of the five families in a text exposition, each with its labels.
struct PrefetchCounters: Equatable, CustomStringConvertible {
    private static let families = [
        "dnp_prefetch_scheduled_total", "dnp_prefetch_executed_total", "dnp_prefetch_success_total",
        "dnp_prefetch_failure_total", "dnp_prefetch_used_for_notification_total",
    ]

    private let samples: [String: Double]

    init(_ exposition: String) {
        var samples: [String: Double] = [:]
        for line in exposition.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, Self.families.contains(String(parts[0].prefix { $0 != "{" })) else { continue }
            samples[String(parts[0])] = Double(parts[1])
        }
        self.samples = samples
    }

    /// Whether every family is there, so that the comparison means something.
    var isWhole: Bool {
        Self.families.allSatisfy { family in samples.contains { $0.key.hasPrefix(family) && $0.value > 0 } }
    }

    var description: String {
        samples.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
