// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Writes what a device tells as the lines of its log, in the wrapper of a tool.
struct LineForm: Sendable {
    private let wrapper: LogWrapper
    private var names: ScheduleNames
    private let leadMinutes: Int64
    private var hasWritten = false
    /// The marker of the line, the category of Apple's logging, and the tag.
    private enum Component { case fetch, scheduler, plugin, storage, refresh }
    private var text = OutputBuffer()

    init(_ profile: DeviceProfile, _ wrapper: LogWrapper) {
        self.wrapper = wrapper
        names = ScheduleNames(profile)
        leadMinutes = profile.leadMinutes
    }

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

    /// Appends the lines of a step.
    mutating func append(_ step: StoryStep, counts: PrefetchCounts, offset: Int64, to output: inout OutputBuffer) {
        switch step.kind {
        case .submitted, .submissionRefused: appendSubmission(step, offset, to: &output)
        case .leadCapped:
            scheduling(step, offset, to: &output)
            line(.fetch, step, offset, "Prefetch lead too small, capping at minimum (60s)", to: &output)
        case .executed:
            line(
                .fetch,
                step,
                offset,
                "BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
                to: &output
            )
            text.append("Resolved next notification needing content (time=")
            text.append(rfc3339: step.due)
            text.append(", scheduleId=")
            text.append(names.name(of: step))
            line(.fetch, step, offset, ")", to: &output)
        case .contentMissing:
            preparing(step, offset, to: &output)
            line(
                .fetch,
                step,
                offset,
                "No cached content available, falling back to on-demand fetch",
                to: &output
            )
        case .used:
            preparing(step, offset, to: &output)
            text.append("Found cached content (age=")
            text.append(decimal: step.amount)
            line(.fetch, step, offset, "s, source=prefetch)", to: &output)
            text.append("Using cached content for notification at ")
            text.append(rfc3339: step.due)
            line(.fetch, step, offset, "", to: &output)
        default: appendOther(step, counts, offset, to: &output)
        }
    }

    /// Appends what stands behind the last line.
    func finish(_ output: inout OutputBuffer) {
        if wrapper == .appleJSON { output.append(hasWritten ? "\n]\n" : "[]\n") }
    }

    // MARK: Messages

    private mutating func scheduling(_ step: StoryStep, _ offset: Int64, to output: inout OutputBuffer) {
        text.append("Scheduling prefetch for notification at ")
        text.append(rfc3339: step.due)
        line(.fetch, step, offset, "", to: &output)
    }

    private mutating func preparing(_ step: StoryStep, _ offset: Int64, to output: inout OutputBuffer) {
        text.append("Preparing content for notification at ")
        text.append(rfc3339: step.due)
        line(.scheduler, step, offset, "", to: &output)
    }

    private mutating func appendSubmission(_ step: StoryStep, _ offset: Int64, to output: inout OutputBuffer) {
        scheduling(step, offset, to: &output)
        if step.kind == .submissionRefused {
            return line(
                .fetch,
                step,
                offset,
                #"Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1 "(null)""#,
                to: &output
            )
        }
        if step.minutes == 5 {
            text.append("BGAppRefreshTask scheduled (earliestBeginDate=")
        } else {
            text.append("Prefetch scheduled ")
            text.append(decimal: Int64(step.minutes))
            text.append(" minutes before notification (earliestBeginDate=")
        }
        text.append(rfc3339: step.begin)
        line(.fetch, step, offset, ")", to: &output)
    }

    private mutating func appendOther(
        _ step: StoryStep,
        _ counts: PrefetchCounts,
        _ offset: Int64,
        to output: inout OutputBuffer
    ) {
        let component: Component
        var end: StaticString = ""
        switch step.kind {
        case .registered:
            (component, end) = (.fetch, "Registering BGTaskScheduler task (id=com.timesafari.dailynotification.fetch)")
        case .launched:
            component = .plugin
            end =
                step.flag
                ? "Startup complete (hasPendingSchedules=true)" : "Startup complete (hasPendingSchedules=false)"
        case .granted: (component, end) = (.plugin, "requestPermissions() → granted")
        case .denied: (component, end) = (.plugin, "notifications_denied for scheduleDailyNotification")
        case .zoneChanged: (component, end) = (.scheduler, "Timezone changed, but UTC schedule unchanged")
        case .cancelledAll: (component, end) = (.plugin, "Force rescheduling all tasks and notifications")
        case .notificationScheduled:
            component = .scheduler
            text.append("Scheduling notification for ")
            text.append(rfc3339: step.due)
        case .persisted:
            component = .storage
            text.append("Persisted schedule to DB (id=")
            text.append(names.name(of: step))
            text.append(", type=DAILY, time=")
            text.append(rfc3339: step.due)
            end = ")"
        case .missed:
            component = .fetch
            text.append("BGTask missed window; rescheduling (notificationTime=")
            text.append(rfc3339: step.due)
            end = ")"
        case .fetchStarted:
            component = .fetch
            text.append("Starting fetch from https://api.example.org/notifications (notificationTime=")
            text.append(rfc3339: step.due)
            end = ", jwtPresent=true)"
        case .called:
            component = .fetch
            end =
                step.flag
                ? #"API call: GET https://api.example.org/notifications (JWT present, ETag="33a64df5")"#
                : "API call: GET https://api.example.org/notifications (JWT present, ETag=nil)"
        case .succeeded:
            component = .fetch
            text.append("Fetch success (status=")
            text.append(decimal: Int64(step.status))
            text.append(", bytes=")
            text.append(decimal: step.begin)
            text.append(", ttl=")
            text.append(decimal: Int64(step.ttl))
            end = ")"
        case .failed:
            component = .fetch
            text.append(
                step.reason == .auth
                    ? "Fetch failed: error=AuthError, httpStatus=" : "Fetch failed: error=NetworkError, httpStatus="
            )
            text.append(decimal: Int64(step.status))
            end = step.flag ? ", willRetry=true" : ", willRetry=false"
        case .tokenExpired: (component, end) = (.fetch, "JWT expired, authentication failed")
        case .expired: (component, end) = (.fetch, "Task expired")
        case .completed: (component, end) = (.fetch, Self.completion(step))
        case .abandoned: (component, end) = (.fetch, "Task marked complete (success=false) due to error")
        case .cached:
            component = .fetch
            text.append("Cached content for scheduleId=")
            text.append(names.name(of: step))
        case .cacheFailed: (component, end) = (.storage, "Cache write failed: error=SQLiteError")
        case .storageUnavailable: (component, end) = (.fetch, "Storage unavailable, will fetch on-demand")
        case .delivered:
            component = .scheduler
            text.append("Notification delivered (id=")
            text.append(names.name(of: step))
            end = ", title=Your daily update)"
        case .summed:
            component = .fetch
            text.append("Prefetch cycle complete (id=")
            text.append(names.name(of: step))
            text.append(step.flag ? ", fetched=true" : ", fetched=false")
            end = step.secondFlag ? ", usedCached=true)" : ", usedCached=false)"
        default:
            component = .refresh
            end = refreshMessage(step)
        }
        line(component, step, offset, end, to: &output)
    }

    private static func completion(_ step: StoryStep) -> StaticString {
        if step.flag { return "Task completed (success=true)" }
        return switch step.reason {
        case .network?: "Task completed (success=false, reason=NETWORK)"
        case .auth?: "Task completed (success=false, reason=AUTH)"
        case .system?: "Task completed (success=false, reason=SYSTEM)"
        case nil: "Task completionBlock (success=false)"
        }
    }

    /// The end of a message of the background refresh, whose beginning is appended.
    private mutating func refreshMessage(_ step: StoryStep) -> StaticString {
        switch step.kind {
        case .runStarted: return "Background refresh task started"
        case .runChecked:
            text.append("Last test was ")
            text.append(decimal: step.amount)
            return step.flag ? " days ago. Available: true" : " days ago. Available: false"
        case .runCompleted:
            text.append("Background refresh completed in ")
            text.append(hundredths: step.amount)
            return step.flag ? "s with success: true" : "s with success: false"
        case .runExpired: return "Background refresh task expired before completion"
        case .runSkipped:
            return switch step.amount {
            case 0: "Skipping refresh: User not authenticated"
            case 1: "Skipping refresh: No network connection"
            default: "Skipping refresh: Last refresh was too recent"
            }
        case .runScheduled: return "Scheduled background refresh for 4.0 hours from now"
        case .runRefused: return "Failed to schedule background refresh"
        case .runNotified: return "Sent test available notification"
        case .runNotNotified:
            if step.amount < 0 { return "Skipping notification: Not authorized" }
            text.append("Skipping notification: Already notified ")
            text.append(decimal: step.amount)
            return " days ago"
        default: return ""
        }
    }

    // MARK: Wrappers

    private static let months: [StaticString] = [
        "Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ", "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec ",
    ]

    /// Writes a line: what was appended to `text`, and the end of it.
    private mutating func line(
        _ component: Component,
        _ step: StoryStep,
        _ offset: Int64,
        _ end: StaticString,
        to output: inout OutputBuffer
    ) {
        text.append(end)
        defer { text.removeAll() }
        let time = step.time
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
            return appendObject(component, time, offset, to: &output)
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
        output.append(text.bytes)
        output.append(wrapper == .logcatLong ? "\n\n" : "\n")
    }

    private mutating func appendObject(
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
        for byte in text.bytes {
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
