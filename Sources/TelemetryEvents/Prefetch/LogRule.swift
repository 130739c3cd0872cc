// SPDX-License-Identifier: Apache-2.0

/// One form of the plugin's log lines: its opening and its meaning.
struct LogRule: Sendable {
    /// The meaning of a line.
    enum Meaning: Equatable, Sendable {
        /// An event of this kind.
        case event(EventKind)
        /// Context: identifies the cycle of the surrounding lines, but is no event.
        case cycle
        /// Recognised, but without effect.
        case nothing
    }

    /// The phase of the lifecycle in which the line is written. A line without an id belongs to its stream's current
    /// cycle of that phase.
    enum Phase: UInt8, Sendable {
        case plugin
        case scheduling
        case execution
        case delivery
        case summary
    }

    /// How the text after the opening is read.
    enum Remainder: Sendable {
        case nothing
        /// `key=value` pairs, in parentheses, after a colon or between words.
        case fields
        /// A time, or else fields.
        case notificationTime
        /// A sentence that describes an error.
        case error
        /// Names of counters and their values.
        case counters
        /// A number of minutes.
        case minutes
        /// A number of minutes, then fields.
        case leadMinutes
        /// What a call carried, in parentheses.
        case call
        /// The opening is an error code; then fields.
        case code
        /// The system's refusal to schedule, which may come with its error.
        case refusal
        /// What a line of the background refresh says in words.
        case refresh
    }

    /// How the message begins, ignoring case.
    let opening: StaticString
    let form: Form

    /// The meaning of messages with one opening.
    struct Form: Sendable {
        var meaning: Meaning
        var phase: Phase
        var remainder: Remainder
        /// Whether `id` is the task's instead of the schedule's.
        var idNamesTask: Bool
        /// The failure reason that the form implies.
        var reason: FailureReason?

        /// The kind of event; nil for a line that is none.
        var kind: EventKind? {
            if case .event(let kind) = meaning { kind } else { nil }
        }

        /// Whether it is a form of the background refresh, which has no cycles to bind lines to.
        var isOfRefresh: Bool { kind?.app == .aiq }
    }

    init(
        _ opening: StaticString,
        _ meaning: Meaning,
        _ phase: Phase,
        _ remainder: Remainder = .fields,
        idNamesTask: Bool = false,
        reason: FailureReason? = nil
    ) {
        self.opening = opening
        form = Form(
            meaning: meaning,
            phase: phase,
            remainder: remainder,
            idNamesTask: idNamesTask,
            reason: reason
        )
    }
}

extension LogGrammar {
    /// Every form of the plugin's log lines (docs/log-sources.md).
    ///
    /// A new form is a new row; if two openings match a line, the longer one wins.
    static let rules: [LogRule] = [
        LogRule("Registering BGTaskScheduler task", .event(.prefetchRegistered), .plugin, idNamesTask: true),
        LogRule("Registered BGTaskScheduler", .event(.prefetchRegistered), .plugin, idNamesTask: true),
        LogRule("Startup complete", .event(.pluginStarted), .plugin),
        LogRule("configure() called", .event(.pluginStarted), .plugin, .nothing),
        LogRule("status = ready", .event(.pluginStarted), .plugin, .nothing),
        LogRule("requestPermissions()", .nothing, .plugin, .nothing),
        LogRule("requestPermissions() → granted", .event(.permissionGranted), .plugin, .nothing),
        LogRule("requestPermissions() -> granted", .event(.permissionGranted), .plugin, .nothing),
        LogRule("requestPermissions() → denied", .event(.notificationDenied), .plugin, .nothing),
        LogRule("requestPermissions() -> denied", .event(.notificationDenied), .plugin, .nothing),
        LogRule("Telemetry snapshot", .event(.telemetrySnapshot), .plugin, .counters),
        LogRule("Timezone changed", .event(.timezoneChanged), .plugin),
        LogRule("Time warp simulated", .event(.timeWarped), .plugin, .minutes),
        LogRule("Force rescheduling", .event(.prefetchCancelled), .plugin, .nothing),
        LogRule("invalid_time_format", .event(.pluginError), .plugin, .code),
        LogRule("scheduling_failed", .event(.pluginError), .plugin, .code),
        LogRule("background_refresh_disabled", .event(.pluginError), .plugin, .code),
        LogRule("task_scheduling_failed", .event(.pluginError), .plugin, .code),

        LogRule("scheduleDailyNotification()", .cycle, .scheduling),
        LogRule("Scheduling prefetch for notification at", .cycle, .scheduling, .notificationTime),
        LogRule("Scheduling prefetch", .cycle, .scheduling),
        LogRule("Scheduling BGAppRefreshTask", .cycle, .scheduling, idNamesTask: true),
        LogRule("BGAppRefreshTask scheduled", .event(.prefetchScheduled), .scheduling, idNamesTask: true),
        LogRule("Prefetch scheduled", .event(.prefetchScheduled), .scheduling, .leadMinutes),
        LogRule("Prefetch lead too small", .event(.leadCapped), .scheduling),
        LogRule("Failed to schedule BGAppRefreshTask", .event(.prefetchScheduleFailed), .scheduling, .error),
        LogRule("Background fetch scheduling failed", .event(.prefetchScheduleFailed), .scheduling, .refusal),
        LogRule("Scheduling notification for", .event(.notificationScheduled), .scheduling, .notificationTime),
        LogRule("Persisted schedule", .event(.schedulePersisted), .scheduling),
        LogRule("notifications_denied", .event(.notificationDenied), .scheduling),
        LogRule("BGTask missed window", .event(.prefetchMissed), .scheduling),

        LogRule("BGTask handler invoked", .event(.prefetchExecuted), .execution, idNamesTask: true),
        LogRule("Resolved next notification", .cycle, .execution),
        LogRule("Starting fetch", .event(.prefetchStarted), .execution),
        LogRule("PrefetchOperation: starting", .event(.prefetchStarted), .execution, .nothing),
        LogRule("PrefetchOperation: finished", .nothing, .execution, .nothing),
        LogRule("API call", .event(.apiCall), .execution, .call),
        LogRule("Fetch success", .event(.prefetchSuccess), .execution),
        LogRule("Fetch failed", .event(.prefetchFailure), .execution),
        LogRule("JWT expired", .event(.prefetchFailure), .execution, idNamesTask: true, reason: .auth),
        LogRule("Task expired", .event(.prefetchExpired), .execution, idNamesTask: true, reason: .system),
        LogRule("expirationHandler invoked", .event(.prefetchExpired), .execution, idNamesTask: true, reason: .system),
        LogRule("Task completed", .event(.prefetchCompleted), .execution),
        LogRule("Task completionBlock", .event(.prefetchCompleted), .execution),
        LogRule("Task marked complete", .event(.prefetchCompleted), .execution, reason: .system),
        LogRule("Cached content", .event(.contentCached), .execution),
        LogRule("Cache write failed", .event(.contentCacheFailed), .execution),
        LogRule("Storage unavailable", .event(.contentCacheFailed), .execution, reason: .system),

        LogRule("Preparing content for notification at", .cycle, .delivery, .notificationTime),
        LogRule("Preparing content", .cycle, .delivery),
        LogRule("Found cached content", .event(.prefetchUsedForNotification), .delivery),
        LogRule(
            "Using cached content for notification at",
            .event(.prefetchUsedForNotification),
            .delivery,
            .notificationTime
        ),
        LogRule("Using cached content", .event(.prefetchUsedForNotification), .delivery),
        LogRule("No cached content", .event(.contentMissing), .delivery),
        LogRule("Notification built", .cycle, .delivery),
        LogRule("Notification delivered", .event(.notificationDelivered), .delivery),
        LogRule("Notification scheduled/delivered", .event(.notificationDelivered), .delivery),
        LogRule("Notification drift", .event(.notificationDrift), .delivery),

        LogRule("Prefetch cycle complete", .event(.prefetchCycleComplete), .summary),
    ]
}
