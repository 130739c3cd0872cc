// SPDX-License-Identifier: Apache-2.0

/// What a metric family measures, as the `TYPE` line of an exposition names it.
public enum MetricKind: String, Sendable, Hashable, CaseIterable {
    /// A total that only rises.
    case counter
    /// A value that rises and falls.
    case gauge
    /// Observations counted into buckets of fixed bounds.
    case histogram
}
