// SPDX-License-Identifier: Apache-2.0

/// Why a prefetch failed: the closed label set of `dnp_prefetch_failure_total` (SPEC 3.4).
///
/// Raw values are stored in the ledger.
public enum FailureReason: UInt8, CaseIterable, Sendable {
    case network = 0
    case auth = 1
    case system = 2
    case other = 3

    /// The label value.
    public var name: StaticString {
        switch self {
        case .network: "NETWORK"
        case .auth: "AUTH"
        case .system: "SYSTEM"
        case .other: "OTHER"
        }
    }
}
