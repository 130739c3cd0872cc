// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Writes what a device tells as the lines of its log, in the wrapper of a tool.
struct LineForm: Sendable {
    private typealias Component = LineWrapping.Component

    private var wrapping: LineWrapping
    private var names: ScheduleNames
    private var text = OutputBuffer()

    init(_ profile: DeviceProfile, _ wrapper: LogWrapper) {
        wrapping = LineWrapping(wrapper)
        names = ScheduleNames(profile)
    }

    /// Appends the lines of a step.
    mutating func append(_ step: StoryStep, offset: Int64, to output: inout OutputBuffer) {
        switch step.kind {
        case .submitted, .submissionRefused: appendSubmission(step, offset, to: &output)
        case .leadCapped:
            scheduling(step, offset, to: &output)
            line(.fetch, step, offset, "Prefetch lead too small, capping at minimum (60s)", to: &output)
        case .executed:
            appendInvocation(step)
            line(.fetch, step, offset, ")", to: &output)
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
            appendDigest("Using cached content MD5: ", step, offset, to: &output)
        case .cached:
            text.append("Cached content for scheduleId=")
            text.append(names.name(of: step))
            if step.ttl > 0 {
                text.append(", ttl=")
                text.append(decimal: Int64(step.ttl))
            }
            line(.fetch, step, offset, "", to: &output)
            appendDigest("Cached content MD5: ", step, offset, to: &output)
        default: appendOther(step, offset, to: &output)
        }
    }

    /// Appends what stands behind the last line.
    func finish(_ output: inout OutputBuffer) {
        wrapping.finish(&output)
    }

    // MARK: Messages

    private mutating func appendInvocation(_ step: StoryStep) {
        text.append("BGTask handler invoked (id=com.timesafari.dailynotification.fetch")
        switch step.network {
        case .untold: break
        case .wifi: text.append(", network=wifi")
        case .cellular: text.append(", network=cellular")
        case .none: text.append(", network=none")
        }
        if step.network != .untold { text.append(step.secondFlag ? ", lowPowerMode=true" : ", lowPowerMode=false") }
        appendScheduleHash(step)
    }

    private mutating func appendScheduleHash(_ step: StoryStep) {
        guard step.hash != 0 else { return }
        text.append(", scheduleHash=")
        text.append(digest: step.hash)
    }

    /// Appends the line with the hash of a content, where it is told.
    private mutating func appendDigest(
        _ opening: StaticString,
        _ step: StoryStep,
        _ offset: Int64,
        to output: inout OutputBuffer
    ) {
        guard step.hash != 0 else { return }
        text.append(opening)
        text.append(digest: step.hash)
        line(.fetch, step, offset, "", to: &output)
    }

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
        appendScheduleHash(step)
        line(.fetch, step, offset, ")", to: &output)
    }

    private mutating func appendOther(
        _ step: StoryStep,
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
        case .denied:
            component = .plugin
            end = step.flag ? "requestPermissions() → denied" : "notifications_denied for scheduleDailyNotification"
        case .warped:
            component = .fetch
            text.append("Time warp simulated: +")
            text.append(decimal: Int64(step.minutes))
            end = " minutes"
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
            if step.dueError != 0 {
                text.append(", notificationTime=")
                text.append(rfc3339: step.due + step.dueError)
                text.append(", id=")
                text.append(names.name(of: step))
            }
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

    /// Appends a line: what was appended to `text`, and the end of it.
    private mutating func line(
        _ component: Component,
        _ step: StoryStep,
        _ offset: Int64,
        _ end: StaticString,
        to output: inout OutputBuffer
    ) {
        text.append(end)
        wrapping.append(text.bytes, of: component, at: step.time, offset: offset, to: &output)
        text.removeAll()
    }
}
