// SPDX-License-Identifier: Apache-2.0

/// Something that a service tells the manager that started it (sd_notify(3)).
public enum ServiceNotification: Hashable, Sendable {
    /// It has started, or it has finished reloading.
    case ready
    /// It reads its configuration anew, and did so from this moment of CLOCK_MONOTONIC on, in microseconds.
    case reloading(since: UInt64)
    /// It has begun to stop.
    case stopping
    /// How it stands, in one line for people; see ``maximumStatusBytes``.
    case status(String)
    /// It works: the manager's watchdog starts anew.
    case watchdog
    /// Starting, or stopping, takes longer: the manager is to wait this long from now on before it gives up.
    case extendTimeout(Duration)
    /// The error number that it fails with.
    case errno(Int32)

    /// The most bytes of a status line; what is beyond is cut off behind a whole character. The manager takes no
    /// datagram above 4,096 bytes (`NOTIFY_BUFFER_MAX` of systemd).
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

    /// Several notifications as one message, which the manager takes at once.
    static func message(_ notifications: [ServiceNotification]) -> String {
        notifications.map(\.lines).joined(separator: "\n")
    }

    /// A text without line feeds and other controls, each of which becomes a space.
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
    /// Microseconds, at least 0, rounded down, and as many as there are for what is beyond.
    var wholeMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000_000).partialValue
    }
}
