// SPDX-License-Identifier: Apache-2.0

/// A cumulative counter that a client may send in `telemetry` (SPEC 5.3).
///
/// Raw values are stored in the ledger.
public enum ClientCounter: UInt8, CaseIterable, Sendable {
    case scheduled = 1
    case executed = 2
    case success = 3
    case failure = 4
    case used = 5
    case failureNetwork = 6
    case failureAuth = 7
    case failureSystem = 8
    case failureOther = 9

    /// The key in the `telemetry` object; a failure counter may carry its reason as a label.
    public var name: StaticString {
        switch self {
        case .scheduled: "dnp_prefetch_scheduled_total"
        case .executed: "dnp_prefetch_executed_total"
        case .success: "dnp_prefetch_success_total"
        case .failure: "dnp_prefetch_failure_total"
        case .used: "dnp_prefetch_used_for_notification_total"
        case .failureNetwork: #"dnp_prefetch_failure_total{reason="NETWORK"}"#
        case .failureAuth: #"dnp_prefetch_failure_total{reason="AUTH"}"#
        case .failureSystem: #"dnp_prefetch_failure_total{reason="SYSTEM"}"#
        case .failureOther: #"dnp_prefetch_failure_total{reason="OTHER"}"#
        }
    }
}
