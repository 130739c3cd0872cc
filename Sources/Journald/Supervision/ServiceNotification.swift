// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// The socket for notifications to the service manager, `$NOTIFY_SOCKET`: a path, or `@` and an abstract name.
public struct NotificationSocket: Sendable {
    /// - Returns: nil where no service manager expects notifications.
    public init?() {
        guard let name = unsafe getenv("NOTIFY_SOCKET"), unsafe name.pointee != 0 else { return nil }
    }

    /// Sends notifications in one message.
    ///
    /// It blocks while the manager's queue is full, so call it on a thread that nothing else depends on. A socket without
    /// a listener is an error each time; the manager may return.
    public func send(_ notifications: [ServiceNotification]) throws(SystemError) {
        guard !notifications.isEmpty else { return }
        let result = unsafe sd_notify(0, ServiceNotification.message(notifications))
        guard result >= 0 else { throw SystemError(code: result) }
    }

    /// The time after the last ``ServiceNotification/watchdog`` at which the manager regards this process as hung
    /// (`WatchdogSec=`); nil where it watches no process, or another one (sd_watchdog_enabled(3)).
    ///
    /// - Throws: ``SystemError`` where `WATCHDOG_USEC` or `WATCHDOG_PID` is invalid.
    public static func watchdogTimeout() throws(SystemError) -> Duration? {
        var microseconds: UInt64 = 0
        let result = unsafe sd_watchdog_enabled(0, &microseconds)
        guard result >= 0 else { throw SystemError(code: result) }
        return result > 0 && microseconds > 0 ? .microseconds(Int64(clamping: microseconds)) : nil
    }
}

/// A notification of a service to its manager (sd_notify(3)).
public enum ServiceNotification: Hashable, Sendable {
    /// Start-up or reloading is complete.
    case ready
    /// The service reloads its configuration since this time of CLOCK_MONOTONIC, in microseconds.
    case reloading(since: UInt64)
    /// The service is stopping.
    case stopping
    /// The state, in one line for people; see ``maximumStatusBytes``.
    case status(String)
    /// The service works: the manager restarts its watchdog timer.
    case watchdog
    /// Starting or stopping takes longer: the manager extends its timeout to this long from now.
    case extendTimeout(Duration)
    /// The error number that the service fails with.
    case errno(Int32)

    /// The maximum length of a status line, in bytes; a longer one is cut after a whole character. The manager accepts
    /// datagrams of up to 4,096 bytes (systemd's `NOTIFY_BUFFER_MAX`).
    public static let maximumStatusBytes = 1_024

    /// The lines of the message.
    var lines: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since)"
        case .stopping: "STOPPING=1"
        case .status(let text): "STATUS=\(Self.oneLine(text))"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(duration.wholeMicroseconds)"
        case .errno(let code): "ERRNO=\(code)"
        }
    }

    /// Several notifications as one message, which the manager processes together.
    static func message(_ notifications: [ServiceNotification]) -> String {
        notifications.map(\.lines).joined(separator: "\n")
    }

    /// A text with a space for each line feed or other control character.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        var bytes = 0
        for scalar in text.unicodeScalars {
            let kept: Unicode.Scalar = scalar.properties.generalCategory == .control ? " " : scalar
            bytes += UTF8.width(kept)
            guard bytes <= maximumStatusBytes else { break }
            line.unicodeScalars.append(kept)
        }
        return line
    }
}

extension Duration {
    /// Whole microseconds, clamped to 0 below and to `UInt64.max` above.
    fileprivate var wholeMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000_000).partialValue
    }
}
