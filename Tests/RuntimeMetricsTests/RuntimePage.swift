// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import RuntimeMetrics

/// A registry with both collectors, and its page.
struct RuntimePage {
    let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })

    init() {
        ProcessCollector.add(to: registry)
        SwiftRuntimeCollector.add(to: registry)
    }

    /// The value of a sample on a fresh page; NaN when there is none.
    func callAsFunction(_ sample: String) -> Double {
        let page = String(decoding: registry.exposition(), as: UTF8.self)
        for line in page.split(separator: "\n") where line.hasPrefix(sample + " ") {
            return Double(line.dropFirst(sample.utf8.count + 1)) ?? .nan
        }
        return .nan
    }
}
