// SPDX-License-Identifier: Apache-2.0

/// What a delivered notification showed: the label set of `dnp_notification_delivered_total` (SPEC 6).
///
/// Raw values are stored in checkpoints.
public enum DeliveredContent: UInt8, CaseIterable, Sendable {
    /// Content that had been prefetched.
    case prefetched = 0
    /// Content that was fetched when the notification was due.
    case onDemand = 1
    /// Nothing is known of its content.
    case none = 2

    /// The label value.
    public var name: StaticString {
        switch self {
        case .prefetched: "prefetched"
        case .onDemand: "on_demand"
        case .none: "none"
        }
    }
}
