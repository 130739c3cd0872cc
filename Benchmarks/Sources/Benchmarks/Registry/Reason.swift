// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// A closed set of label values.
enum Reason: String, CaseIterable, LabelValue {
    case network = "NETWORK"
    case auth = "AUTH"
    case system = "SYSTEM"
    case other = "OTHER"
}
