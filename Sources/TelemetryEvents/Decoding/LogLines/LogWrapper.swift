// SPDX-License-Identifier: Apache-2.0

/// A form in which the lines of a device log are wrapped (SPEC 3.3). The raw value is its word on the command line.
public enum LogWrapper: String, CaseIterable, Sendable {
    /// `[DNP-FETCH] text`, nothing in front of it.
    case bare
    /// A bare line with a time in front of it: RFC 3339 or `yyyy-MM-dd HH:mm:ss`, with or without a zone.
    case stamped
    /// `log show` and `log stream` of Apple's unified logging, as they print without `--style`.
    case appleDefault = "oslog-default"
    /// `log --style compact`.
    case appleCompact = "oslog-compact"
    /// `log --style syslog`.
    case appleSyslog = "oslog-syslog"
    /// `log --style ndjson`.
    case appleNDJSON = "oslog-ndjson"
    /// `idevicesyslog` of libimobiledevice.
    case idevicesyslog
    /// The console of Xcode.
    case xcode
    /// `logcat -v threadtime`, which is its default.
    case logcatThreadtime = "logcat-threadtime"
    /// `logcat -v time`.
    case logcatTime = "logcat-time"
    /// `logcat -v brief`, `-v tag` and `-v process`.
    case logcatBrief = "logcat-brief"
    /// `logcat -v long`.
    case logcatLong = "logcat-long"
    /// Syslog as RFC 3164 and its relatives write it.
    case rfc3164
    /// Syslog as RFC 5424 writes it.
    case rfc5424
    /// `journalctl -o short-iso`, and the other short forms.
    case journalShortISO = "journal-short-iso"
    /// `journalctl -o json`.
    case journalJSON = "journal-json"
    /// JSON events (SPEC 3.1), one a line.
    case events
}
