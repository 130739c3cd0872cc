// SPDX-License-Identifier: Apache-2.0

/// A closed set of label values.
enum Reason: String, CaseIterable, Sendable {
    case network = "NETWORK"
    case auth = "AUTH"
    case system = "SYSTEM"
    case other = "OTHER"
}
