// SPDX-License-Identifier: Apache-2.0

/// An error of the plugin itself: the closed label set of `dnp_plugin_errors_total` (SPEC 3.5).
///
/// Raw values are stored in checkpoints.
public enum PluginErrorCode: UInt8, CaseIterable, Sendable {
    case notificationsDenied = 0
    case invalidTimeFormat = 1
    case schedulingFailed = 2
    case backgroundRefreshDisabled = 3
    case taskSchedulingFailed = 4
    case other = 5

    /// The label value.
    public var name: StaticString {
        switch self {
        case .notificationsDenied: "notifications_denied"
        case .invalidTimeFormat: "invalid_time_format"
        case .schedulingFailed: "scheduling_failed"
        case .backgroundRefreshDisabled: "background_refresh_disabled"
        case .taskSchedulingFailed: "task_scheduling_failed"
        case .other: "other"
        }
    }

    /// The code that an event counts under: a denial its own, a failed scheduling the one that its error names or
    /// `other`; nil for events of other kinds.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public init?(_ event: borrowing Event, in bytes: Span<UInt8>) {
        switch event.kind {
        case .notificationDenied: self = .notificationsDenied
        case .prefetchScheduleFailed:
            let error = event.error
            self = Self.allCases.first { bytes.equalsIgnoringCase($0.name, in: error) } ?? .other
        default: return nil
        }
    }
}
