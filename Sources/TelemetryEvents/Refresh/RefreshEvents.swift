// SPDX-License-Identifier: Apache-2.0

/// Why a background refresh, or its notification, was skipped. Raw values are stored in the ledger.
public enum RefreshSkipReason: UInt8, CaseIterable, Sendable {
    /// Of a refresh: the user is not signed in.
    case notAuthenticated = 1
    /// Of a refresh: the device is offline.
    case noNetwork = 2
    /// Of a refresh: the last one is less than 4 hours ago.
    case tooRecent = 3
    /// Of a notification: the user does not permit it.
    case notAuthorized = 4
    /// Of a notification: the user was notified less than 90 days ago.
    case alreadyNotified = 5

    /// The name in JSON, and the label value.
    public var name: StaticString {
        switch self {
        case .notAuthenticated: "NOT_AUTHENTICATED"
        case .noNetwork: "NO_NETWORK"
        case .tooRecent: "TOO_RECENT"
        case .notAuthorized: "NOT_AUTHORIZED"
        case .alreadyNotified: "ALREADY_NOTIFIED"
        }
    }

    /// The kind of event that has the reason.
    public var kind: EventKind {
        switch self {
        case .notAuthenticated, .noNetwork, .tooRecent: .refreshSkipped
        case .notAuthorized, .alreadyNotified: .refreshNotificationSkipped
        }
    }
}

/// The numbers that events of the background refresh may have.
enum RefreshLimits {
    /// Days since a test or a notification, more than two centuries.
    static let days: ClosedRange<Int64> = 0...100_000
    /// A duration, in microseconds: up to a day.
    static let duration: ClosedRange<Int64> = 0...86_400_000_000
    /// The delay of a schedule, in millionths of an hour: up to a leap year.
    static let microhours: ClosedRange<Int64> = 0...8_784_000_000
}

/// What an event of the background refresh tells.
///
/// An event has no fields of its own for this app. Each value is kept in a field that no kind of this app needs otherwise,
/// so that events stay as large as they were.
extension Event {
    /// Of a `refresh_completed`: whether it was successful.
    public var isRefreshSuccessful: Bool? { kind == .refreshCompleted ? fetched : nil }

    /// Of a `refresh_completed`: how long the refresh took, in microseconds.
    public var refreshDuration: Int64? { kind == .refreshCompleted ? duration : nil }

    /// Of a `refresh_checked`: whether a test is available.
    public var isTestAvailable: Bool? { kind == .refreshChecked ? usedCached : nil }

    /// Of a `refresh_checked`: the days since the last test.
    public var daysSinceTest: Int64? { kind == .refreshChecked ? itemCount : nil }

    /// Of a `refresh_notification_skipped`: the days since the last notification.
    public var daysSinceNotification: Int64? { kind == .refreshNotificationSkipped ? itemCount : nil }

    /// Of a `refresh_scheduled`: the delay asked for, in microseconds.
    public var refreshDelay: Int64? { kind == .refreshScheduled ? duration : nil }

    /// Of a `refresh_skipped` or a `refresh_notification_skipped`: why.
    public var skipReason: RefreshSkipReason? {
        guard kind == .refreshSkipped || kind == .refreshNotificationSkipped, let status,
            let reason = UInt8(exactly: status).flatMap(RefreshSkipReason.init(rawValue:)), reason.kind == kind
        else { return nil }
        return reason
    }

    /// Whether it was an analytics event, which tells of a moment beside a log line.
    public internal(set) var isAnalytics: Bool {
        get { kind.app == .aiq && willRetry == true }
        set { willRetry = newValue ? true : nil }
    }

    /// What tells two events of one kind and moment apart: the result, the reason and the days, and no duration, which two
    /// sources round differently. What counts at once is another event as a line than as an analytics event, so that the
    /// fold can pair them in every order of arrival.
    var refreshIdentity: UInt64 {
        var word = UInt64(bitPattern: itemCount ?? -1) << 16 | UInt64(bitPattern: status ?? 0) & 0xFF << 4
        if isAnalytics, kind == .refreshNotificationSent || kind == .refreshScheduleFailed { word ^= 1 << 63 }
        if let fetched { word |= fetched ? 3 : 1 }
        if let usedCached { word |= usedCached ? 12 : 4 }
        return word
    }
}

extension CanonicalJSON {
    /// Appends the properties of an event of the background refresh, which are read back as they are written.
    static func refreshProperties(_ event: Event, to output: inout [UInt8]) {
        var isFirst = true
        func member(_ name: StaticString) {
            output.append(isFirst ? #","properties":{"# : ",")
            output.append(name)
            isFirst = false
        }
        if let isSuccessful = event.isRefreshSuccessful {
            member(#""success":"#)
            output.append(isSuccessful ? "true" : "false")
        }
        if let duration = event.refreshDuration {
            member(#""durationSeconds":"#)
            output.appendScaled(duration, unit: 1_000_000)
        }
        if let days = event.daysSinceTest {
            member(#""daysSinceTest":"#)
            output.appendDecimal(days)
        }
        if let isAvailable = event.isTestAvailable {
            member(#""available":"#)
            output.append(isAvailable ? "true" : "false")
        }
        if let delay = event.refreshDelay {
            member(#""hours":"#)
            output.appendScaled(delay / 3_600, unit: 1_000_000)
        }
        if let reason = event.skipReason {
            member(#""reason":""#)
            output.append(reason.name)
            output.append(UInt8(ascii: "\""))
        }
        if let days = event.daysSinceNotification {
            member(#""daysSinceNotification":"#)
            output.appendDecimal(days)
        }
        if event.isAnalytics { member(#""analytics":true"#) }
        if !isFirst { output.append(UInt8(ascii: "}")) }
    }
}
