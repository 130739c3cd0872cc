// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Wraps messages of the apps as a tool writes them.
struct LineWrapping: Sendable {
    /// The marker of a line, the category of Apple's logging, and the tag.
    enum Component: Sendable { case fetch, scheduler, plugin, storage, refresh }

    private let wrapper: LogWrapper
    private var hasWritten = false

    init(_ wrapper: LogWrapper) { self.wrapper = wrapper }

    /// Whether the tool reads Android devices.
    static func isOfAndroid(_ wrapper: LogWrapper) -> Bool {
        switch wrapper {
        case .logcatThreadtime, .logcatTime, .logcatBrief, .logcatLong, .logcatRaw: true
        default: false
        }
    }

    /// Whether its lines have a time.
    static func hasTimes(_ wrapper: LogWrapper) -> Bool {
        switch wrapper {
        case .bare, .logcatBrief, .logcatRaw: false
        default: true
        }
    }

    /// The unit of its stamps, in microseconds.
    static func resolution(of wrapper: LogWrapper) -> Int64 {
        switch wrapper {
        case .idevicesyslog, .rfc3164, .journalShortISO: 1_000_000
        case .appleCompact, .logcatThreadtime, .logcatTime, .logcatLong: 1_000
        default: 1
        }
    }

    /// Appends what stands behind the last line.
    func finish(_ output: inout OutputBuffer) {
        if wrapper == .appleJSON { output.append(hasWritten ? "\n]\n" : "[]\n") }
    }

    private static let months: [StaticString] = [
        "Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ", "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec ",
    ]

    /// Appends a line.
    ///
    /// - Parameters:
    ///   - time: its stamp, in microseconds since 1970.
    ///   - offset: local time minus UTC, in microseconds.
    mutating func append(
        _ message: [UInt8],
        of component: Component,
        at time: Int64,
        offset: Int64,
        to output: inout OutputBuffer
    ) {
        switch wrapper {
        case .bare, .logcatRaw, .events: break
        case .stamped:
            output.append(time: time + offset, .init(separator: UInt8(ascii: " "), digits: 6))
            output.append(zone: offset)
            output.append(" ")
        case .appleDefault:
            output.append(time: time + offset, .init(separator: UInt8(ascii: " "), digits: 6))
            output.append(zone: offset)
            output.append(" 0x1f2e     Default     0x0                  4242   0    ")
            output.append(component == .refresh ? "AIQ: (Refresh) " : "App: (Plugin) ")
        case .appleCompact:
            output.append(time: time, .init(separator: UInt8(ascii: " "), digits: 3))
            output.append(component == .refresh ? " Df AIQ[4242:1f2e] " : " Df App[4242:1f2e] ")
        case .appleSyslog:
            output.append(time: time + offset, .init(separator: UInt8(ascii: " "), digits: 6))
            output.append(zone: offset)
            output.append(
                component == .refresh ? "  localhost AIQ[4242]: (Refresh) " : "  localhost App[4242]: (Plugin) "
            )
        case .xcode:
            output.append(time: time + offset, .init(separator: UInt8(ascii: " "), digits: 6))
            output.append(zone: offset)
            output.append(component == .refresh ? " AIQ[4242:123456] " : " App[4242:123456] ")
        case .idevicesyslog:
            output.append(monthAndClockOf: time, Self.months)
            output.append(
                component == .refresh ? " iPhone AIQ(Refresh)[4242] <Notice>: " : " iPhone App(Plugin)[4242] <Notice>: "
            )
        case .logcatThreadtime:
            output.append(monthDayClockOf: time)
            output.append("  4242  4260 I ")
        case .logcatTime:
            output.append(monthDayClockOf: time)
            output.append(" I/")
        case .logcatBrief: output.append("I/")
        case .logcatLong:
            output.append("[ ")
            output.append(monthDayClockOf: time)
            output.append("  4242: 4260 I/")
        case .rfc3164:
            output.append("<13>")
            output.append(monthAndClockOf: time, Self.months)
            output.append(" phone App[4242]: ")
        case .rfc5424:
            output.append("<165>1 ")
            output.append(time: time, .init(digits: 6))
            output.append(#"Z phone App 4242 ID47 [ex@32473 iut="3"] "#)
        case .journalShortISO:
            output.append(time: time, .init())
            output.append("+0000 phone App[4242]: ")
        case .appleNDJSON, .appleJSON, .journalJSON, .structlog:
            return appendObject(message, component, time, offset, to: &output)
        }
        switch wrapper {
        case .appleDefault, .appleCompact, .appleSyslog:
            output.append("[")
            output.append(component == .refresh ? "com.aiq.app:" : "com.timesafari.dailynotification:")
            output.append(Self.category(component))
            output.append("] ")
        case .logcatThreadtime:
            output.append(Self.tag(component))
            output.append(": ")
        case .logcatTime, .logcatBrief:
            output.append(Self.tag(component))
            output.append("( 4242): ")
        case .logcatLong:
            output.append(Self.tag(component))
            output.append(" ]\n")
        default: appendMarker(component, to: &output)
        }
        output.append(message)
        output.append(wrapper == .logcatLong ? "\n\n" : "\n")
    }

    private mutating func appendObject(
        _ message: [UInt8],
        _ component: Component,
        _ time: Int64,
        _ offset: Int64,
        to output: inout OutputBuffer
    ) {
        if wrapper == .appleJSON { output.append(hasWritten ? ",\n" : "[") }
        hasWritten = true
        switch wrapper {
        case .journalJSON:
            output.append(#"{"_HOSTNAME":"phone","_PID":"4242","__REALTIME_TIMESTAMP":""#)
            output.append(decimal: time)
            output.append(#"","MESSAGE":""#)
            appendMarker(component, to: &output)
        case .structlog:
            output.append(#"{"level":"info","logger":"app","timestamp":""#)
            output.append(rfc3339: time)
            output.append(#"","event":""#)
            appendMarker(component, to: &output)
        default:
            output.append(#"{"traceID":1,"processID":4242,"subsystem":""#)
            output.append(component == .refresh ? "com.aiq.app" : "com.timesafari.dailynotification")
            output.append(#"","category":""#)
            output.append(Self.category(component))
            output.append(#"","timestamp":""#)
            output.append(time: time + offset, .init(separator: UInt8(ascii: " "), digits: 6))
            output.append(zone: offset)
            output.append(#"","eventMessage":""#)
        }
        for byte in message {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
            output.append(byte)
        }
        output.append("\"}")
        if wrapper != .appleJSON { output.append("\n") }
    }

    private func appendMarker(_ component: Component, to output: inout OutputBuffer) {
        output.append("[")
        output.append(Self.tag(component))
        output.append("] ")
    }

    private static func tag(_ component: Component) -> StaticString {
        switch component {
        case .fetch: "DNP-FETCH"
        case .scheduler: "DNP-SCHEDULER"
        case .plugin: "DNP-PLUGIN"
        case .storage: "DNP-STORAGE"
        case .refresh: "BackgroundRefresh"
        }
    }

    private static func category(_ component: Component) -> StaticString {
        switch component {
        case .fetch: "fetch"
        case .scheduler: "scheduler"
        case .plugin: "plugin"
        case .storage: "storage"
        case .refresh: "BackgroundRefresh"
        }
    }
}

extension OutputBuffer {
    /// Appends `+0100`.
    mutating func append(zone offset: Int64) {
        let minutes = abs(offset) / 60_000_000
        append(offset < 0 ? "-" : "+")
        append(minutes / 60 * 100 + minutes % 60, digits: 4)
    }

    /// Appends `11-15 05:48:00.123`.
    mutating func append(monthDayClockOf time: Int64) {
        let date = CalendarDate(daysSince1970: time.floored(by: 86_400_000_000))
        append(date.month, digits: 2)
        append("-")
        append(date.day, digits: 2)
        append(" ")
        append(clockOf: time, digits: 3)
    }

    /// Appends `Nov  5 05:48:00`.
    mutating func append(monthAndClockOf time: Int64, _ months: [StaticString]) {
        let date = CalendarDate(daysSince1970: time.floored(by: 86_400_000_000))
        append(months[Int(date.month) - 1])
        if date.day < 10 { append(" ") }
        append(decimal: date.day)
        append(" ")
        append(clockOf: time, digits: 0)
    }
}
