// SPDX-License-Identifier: Apache-2.0

/// Writes what a device tells as events, one JSON object a line, in one of the two documented dialects.
struct EventForm: Sendable {
    private let isLong: Bool
    private var names: ScheduleNames
    /// What each event ends with, and what it has beside its time where it belongs to a cycle.
    private let tail: [UInt8]
    private var cycles: [(cycle: Int32, members: [UInt8])] = []

    init(_ profile: DeviceProfile) {
        isLong = profile.dialect == .long
        names = ScheduleNames(profile)
        var buffer = OutputBuffer()
        buffer.append(isLong ? #"","installationId":""# : #"","deviceId":""#)
        buffer.append(profile.installation)
        let isApple = profile.platform == .ios
        buffer.append(isApple ? #"","platform":"ios","appVersion":""# : #"","platform":"android","appVersion":""#)
        buffer.append(profile.appVersion)
        buffer.append(#"","osVersion":""#)
        buffer.append(profile.osVersion)
        buffer.append(#"","deviceModel":""#)
        buffer.append(profile.model)
        buffer.append("\"}\n")
        tail = buffer.bytes
    }

    /// Appends an event.
    mutating func append(_ step: StoryStep, counts: PrefetchCounts, to output: inout OutputBuffer) {
        output.append(Self.opening(step))
        if step.cycle >= 0 {
            if step.dueError == 0 { appendCycle(step, to: &output) } else { appendNames(step, to: &output) }
        }
        appendMembers(step, counts, to: &output)
        output.append(#","timestamp":""#)
        output.append(rfc3339: step.time)
        output.append(tail)
    }

    private mutating func appendCycle(_ step: StoryStep, to output: inout OutputBuffer) {
        for known in cycles where known.cycle == step.cycle { return output.append(known.members) }
        var buffer = OutputBuffer()
        appendNames(step, to: &buffer)
        if cycles.count == 2 { cycles.removeFirst() }
        cycles.append((step.cycle, buffer.bytes))
        output.append(buffer.bytes)
    }

    /// Appends the id of the schedule and the notification time, as the step tells them.
    private mutating func appendNames(_ step: StoryStep, to output: inout OutputBuffer) {
        output.append(isLong ? #","scheduleId":""# : #","id":""#)
        output.append(names.name(of: step))
        output.append(isLong ? #"","scheduledFor":""# : #"","notificationTime":""#)
        output.append(rfc3339: step.due + step.dueError)
        output.append("\"")
    }

    private static func opening(_ step: StoryStep) -> StaticString {
        switch step.kind {
        case .registered: #"{"event":"prefetch_registered""#
        case .launched: #"{"event":"plugin_started""#
        case .granted: #"{"event":"permission_granted""#
        case .denied: #"{"event":"notification_denied","error":"notifications_denied""#
        case .warped: #"{"event":"time_warped""#
        case .rollingWindow: #"{"event":"rolling_window""#
        case .scheduleSnapshot: #"{"event":"schedule_snapshot","schedules":["#
        case .cacheCleared: #"{"event":"cache_cleared""#
        case .identityChanged: #"{"event":"identity_changed""#
        case .zoneChanged: #"{"event":"timezone_changed""#
        case .cancelledAll: #"{"event":"prefetch_cancelled""#
        case .snapshot: #"{"event":"telemetry_snapshot""#
        case .submitted: #"{"event":"prefetch_scheduled""#
        case .leadCapped: #"{"event":"lead_capped""#
        case .submissionRefused:
            #"{"event":"prefetch_schedule_failed","error":"BGTaskSchedulerErrorDomain Code=1","backgroundRefresh":false"#
        case .notificationScheduled: #"{"event":"notification_scheduled""#
        case .persisted: #"{"event":"schedule_persisted""#
        case .missed: #"{"event":"prefetch_missed""#
        case .executed: #"{"event":"prefetch_executed""#
        case .fetchStarted: #"{"event":"prefetch_started""#
        case .called: #"{"event":"api_call","authenticated":true"#
        case .succeeded: #"{"event":"prefetch_success""#
        case .failed: #"{"event":"prefetch_failure""#
        case .tokenExpired: #"{"event":"prefetch_failure","error":"JWT expired""#
        case .expired: #"{"event":"prefetch_expired""#
        case .completed, .abandoned: #"{"event":"prefetch_completed""#
        case .cached: #"{"event":"content_cached""#
        case .cacheFailed: #"{"event":"content_cache_failed","error":"SQLiteError""#
        case .storageUnavailable: #"{"event":"content_cache_failed","usedCached":false"#
        case .contentMissing: #"{"event":"content_missing""#
        case .used: #"{"event":"prefetch_used_for_notification""#
        case .delivered: #"{"event":"notification_delivered""#
        case .summed: #"{"event":"prefetch_cycle_complete""#
        case .runStarted: #"{"event":"refresh_started""#
        case .runChecked: #"{"event":"refresh_checked""#
        case .runCompleted:
            step.flag ? #"{"event":"backgroundRefreshCompleted""# : #"{"event":"backgroundRefreshFailed""#
        case .runExpired: #"{"event":"backgroundRefreshExpired""#
        case .runSkipped: #"{"event":"refresh_skipped""#
        case .runScheduled: #"{"event":"refresh_scheduled","properties":{"hours":4}"#
        case .runRefused: #"{"event":"backgroundRefreshScheduleFailed""#
        case .runNotified: #"{"event":"backgroundRefreshNotificationSent""#
        case .runNotNotified: #"{"event":"refresh_notification_skipped""#
        }
    }

    private mutating func appendMembers(_ step: StoryStep, _ counts: PrefetchCounts, to output: inout OutputBuffer) {
        switch step.kind {
        case .launched: output.append(step.flag ? #","hasPendingSchedules":true"# : #","hasPendingSchedules":false"#)
        case .submitted, .submissionRefused:
            output.append(#","earliestBeginDate":""#)
            output.append(rfc3339: step.begin)
            output.append(#"","leadMinutes":"#)
            output.append(decimal: Int64(step.minutes))
            appendHash(#","scheduleHash":""#, step, to: &output)
        case .warped:
            output.append(#","minutes":"#)
            output.append(decimal: Int64(step.minutes))
        case .rollingWindow:
            output.append(#","pending":"#)
            output.append(decimal: step.amount)
            output.append(#","limit":"#)
            output.append(decimal: Int64(step.ttl))
            output.append(#","today":1,"tomorrow":1"#)
        case .scheduleSnapshot: appendSchedules(step, to: &output)
        case .called: output.append(step.flag ? #","conditional":true"# : #","conditional":false"#)
        case .executed:
            appendConditions(step, to: &output)
            appendHash(#","scheduleHash":""#, step, to: &output)
        case .cached:
            if step.ttl > 0 {
                output.append(#","ttl":"#)
                output.append(decimal: Int64(step.ttl))
            }
            appendHash(isLong ? #","contentHash":""# : #","md5":""#, step, to: &output)
        case .succeeded:
            output.append(isLong ? #","status":"# : #","httpStatus":"#)
            output.append(decimal: Int64(step.status))
            output.append(#","bytes":"#)
            output.append(decimal: step.begin)
            output.append(#","ttl":"#)
            output.append(decimal: Int64(step.ttl))
            output.append(isLong ? #","duration_ms":"# : #","fetchDurationMs":"#)
            output.append(decimal: step.amount / 1_000)
        case .failed:
            output.append(step.reason == .auth ? #","error":"AuthError""# : #","error":"NetworkError""#)
            output.append(isLong ? #","status":"# : #","httpStatus":"#)
            output.append(decimal: Int64(step.status))
            output.append(step.flag ? #","willRetry":true"# : #","willRetry":false"#)
        case .completed, .abandoned:
            output.append(step.flag ? #","fetched":true"# : #","fetched":false"#)
            appendReason(step, to: &output)
        case .used:
            output.append(isLong ? #","age":"# : #","ageSeconds":"#)
            output.append(decimal: step.amount)
            appendHash(isLong ? #","contentHash":""# : #","md5":""#, step, to: &output)
        case .summed:
            output.append(step.flag ? #","fetched":true"# : #","fetched":false"#)
            output.append(step.secondFlag ? #","usedCached":true"# : #","usedCached":false"#)
        case .snapshot: appendCounters(counts, to: &output)
        default: if step.kind.isOfRefresh { appendProperties(step, to: &output) }
        }
    }

    private func appendConditions(_ step: StoryStep, to output: inout OutputBuffer) {
        switch step.network {
        case .untold: return
        case .wifi: output.append(#","network":"wifi""#)
        case .cellular: output.append(#","network":"cellular""#)
        case .none: output.append(#","network":"none""#)
        }
        output.append(step.secondFlag ? #","lowPowerMode":true"# : #","lowPowerMode":false"#)
    }

    private func appendHash(_ member: StaticString, _ step: StoryStep, to output: inout OutputBuffer) {
        guard step.hash != 0 else { return }
        output.append(member)
        output.append(digest: step.hash)
        output.append("\"")
    }

    /// Appends what the plugin has stored: a schedule, and one that was never told.
    private mutating func appendSchedules(_ step: StoryStep, to output: inout OutputBuffer) {
        var stored = step
        stored.cycle = Int32(step.amount)
        output.append(#"{"scheduleId":""#)
        output.append(names.name(of: stored))
        output.append(#"","notificationTime":""#)
        output.append(rfc3339: step.due + step.dueError)
        output.append(#"","earliestBeginDate":""#)
        output.append(rfc3339: step.begin)
        output.append(#"","leadMinutes":"#)
        output.append(decimal: Int64(step.minutes))
        appendHash(#","scheduleHash":""#, step, to: &output)
        output.append("}")
        if step.secondFlag {
            output.append(#",{"scheduleId":"daily-untold","notificationTime":""#)
            output.append(rfc3339: step.due + 3_600_000_000)
            output.append("\"}")
        }
        output.append("]")
    }

    private func appendReason(_ step: StoryStep, to output: inout OutputBuffer) {
        switch step.reason {
        case .network?: output.append(#","reason":"NETWORK""#)
        case .auth?: output.append(#","reason":"AUTH""#)
        case .system?: output.append(#","reason":"SYSTEM""#)
        case nil: return
        }
    }

    private func appendCounters(_ counts: PrefetchCounts, to output: inout OutputBuffer) {
        output.append(#","telemetry":{"dnp_prefetch_scheduled_total":"#)
        output.append(decimal: counts.scheduled)
        output.append(#","dnp_prefetch_executed_total":"#)
        output.append(decimal: counts.executed)
        output.append(#","dnp_prefetch_success_total":"#)
        output.append(decimal: counts.success)
        output.append(#","dnp_prefetch_failure_total{reason=\"NETWORK\"}":"#)
        output.append(decimal: counts.network)
        output.append(#","dnp_prefetch_failure_total{reason=\"AUTH\"}":"#)
        output.append(decimal: counts.auth)
        output.append(#","dnp_prefetch_failure_total{reason=\"SYSTEM\"}":"#)
        output.append(decimal: counts.system)
        output.append(#","dnp_prefetch_used_for_notification_total":"#)
        output.append(decimal: counts.used)
        output.append("}")
    }

    private func appendProperties(_ step: StoryStep, to output: inout OutputBuffer) {
        switch step.kind {
        case .runChecked:
            output.append(#","properties":{"daysSinceTest":"#)
            output.append(decimal: step.amount)
            output.append(step.flag ? #","available":true}"# : #","available":false}"#)
        case .runCompleted:
            output.append(#","properties":{"durationSeconds":"#)
            output.append(hundredths: step.amount)
            output.append(step.flag ? #","success":true}"# : "}")
        case .runSkipped:
            output.append(#","properties":{"reason":""#)
            switch step.amount {
            case 0: output.append("NOT_AUTHENTICATED")
            case 1: output.append("NO_NETWORK")
            default: output.append("TOO_RECENT")
            }
            output.append("\"}")
        case .runNotNotified:
            if step.amount < 0 { return output.append(#","properties":{"reason":"NOT_AUTHORIZED"}"#) }
            output.append(#","properties":{"reason":"ALREADY_NOTIFIED","daysSinceNotification":"#)
            output.append(decimal: step.amount)
            output.append("}")
        default: return
        }
    }
}

extension OutputBuffer {
    /// Appends 32 hexadecimal digits that follow from a number, as many as MD5 has.
    mutating func append(digest number: UInt64) {
        var word = number
        for _ in 0..<2 {
            word = (word ^ (word >> 31)) &* 0x9E37_79B9_7F4A_7C15
            for place in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(place) & 0xF)
                append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            }
        }
    }

    /// Appends `1.25` of 125.
    mutating func append(hundredths number: Int64) {
        append(decimal: number / 100)
        append(".")
        append(number % 100, digits: 2)
    }
}
