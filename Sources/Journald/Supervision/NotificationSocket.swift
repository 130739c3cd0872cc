// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// The socket on which the service manager hears from the service, `$NOTIFY_SOCKET`: a path, or `@` and an abstract name.
public struct NotificationSocket: Sendable {
    /// - Returns: nil where no manager listens, so that there is nobody to tell anything.
    public init?() {
        guard let name = unsafe getenv("NOTIFY_SOCKET"), unsafe name.pointee != 0 else { return nil }
    }

    /// Tells the manager all of this in one message.
    ///
    /// It waits while the manager's queue is full, so it has its place on a thread that nothing else depends on. A socket
    /// without a listener is told as an error each time; the manager may come back.
    public func send(_ notifications: [ServiceNotification]) throws(SystemError) {
        guard !notifications.isEmpty else { return }
        let result = unsafe sd_notify(0, ServiceNotification.message(notifications))
        guard result >= 0 else { throw SystemError(code: result) }
    }

    /// In which time after the last ``ServiceNotification/watchdog`` the manager takes this process for hung
    /// (`WatchdogSec=`); nil where it watches no process, or another one (sd_watchdog_enabled(3)).
    ///
    /// - Throws: ``SystemError`` where `WATCHDOG_USEC` or `WATCHDOG_PID` make no sense.
    public static func watchdogTimeout() throws(SystemError) -> Duration? {
        var microseconds: UInt64 = 0
        let result = unsafe sd_watchdog_enabled(0, &microseconds)
        guard result >= 0 else { throw SystemError(code: result) }
        return result > 0 && microseconds > 0 ? .microseconds(Int64(clamping: microseconds)) : nil
    }
}
