// SPDX-License-Identifier: Apache-2.0

/// What happens on a day to a device with the plugin.
enum PrefetchIncident: Sendable {
    case none
    // What the system, the network and the user do.
    case late, skipped, again, expires, networkFailure, authFailure, handlerFailure, killed, retried, storageFailure
    case contentLost, refused, reboot, travelsBefore, travelsBehind, drifts, reinstalled, forceRescheduled, repeated
    case revoked, denied, deadBattery, leadCapped
    /// The tester moves the clock of the app.
    case warped
    /// The content, or the schedule, is not the one that was stored.
    case contentChanged, scheduleChanged
    /// More notifications are pending than may be.
    case windowFull
    /// The stored schedule has another time, or one more entry, than what was told.
    case storedElsewhere, storedUnknown
    /// An answer of 304 to a call without an ETag.
    case unconditionalCall
    /// The cache is cleared between the fetch and the notification, which finds it empty or shows the content in spite of it.
    case cacheCleared, clearedContentUsed
    /// Scheduled in spite of a denial, which is then withdrawn.
    case scheduledWhileDenied
    // Bugs of the plugin, by what they break.
    case endsTwice, usedLate, leadDiffers, timeToLiveDiffers, contentTooOld, notPersisted, timeDiffers, takesTooLong
    case schedulingUntold, executionUntold, failedRunUntold, fetchUntold, secondTask, leadTooShort
    /// A launch after a missed window, or with schedules pending, after which nothing is done.
    case missForgotten, launchForgotten
    /// The client counts successes that it did not have.
    case miscounted

    /// Whether the plugin does not tell that the system has started the task.
    var hidesExecution: Bool { self == .executionUntold || self == .failedRunUntold }

    /// What the scenario `plugin-bugs` draws from.
    private static let bugs: [PrefetchIncident] = [
        .endsTwice, .usedLate, .leadDiffers, .timeToLiveDiffers, .contentTooOld, .notPersisted, .timeDiffers,
        .takesTooLong, .schedulingUntold, .executionUntold, .failedRunUntold, .fetchUntold, .secondTask, .leadTooShort,
        .missForgotten, .scheduleChanged, .contentChanged, .killed,
    ]

    private static let bugsOfLastDay: [PrefetchIncident] = [.launchForgotten, .miscounted]

    /// The last days of a story, of which a collector that judges them at the end still knows every submission and launch.
    private static let rememberedDays = 4

    /// What happens on a day, counted from 0.
    static func draw(day: Int, _ scenario: FleetScenario, _ plan: FleetPlan, _ random: inout StoryRandom) -> Self {
        let isLast = day >= plan.days - 1
        let isRemembered = day >= plan.days - rememberedDays
        switch scenario {
        case .backgroundRefreshOff: return .refused
        case .lowPower: return random.chance(500_000) ? .late : .skipped
        case .forceQuit: return .skipped
        case .timezoneChange: return .travelsBefore
        case .timezoneDrift: return .travelsBehind
        case .reboot: return .reboot
        case .networkFailure: return .networkFailure
        case .permissionDenied: return .denied
        case .storageUnavailable: return .storageFailure
        case .jwtExpiration: return .authFailure
        case .corruptedCache: return .contentLost
        case .executionFailure: return random.chance(500_000) ? .handlerFailure : .expires
        case .repeatedScheduling: return .repeated
        case .permissionRevoked: return .revoked
        case .expiry: return .expires
        case .retry: return .retried
        case .forceReschedule: return .forceRescheduled
        case .leadCapped: return day == 0 ? .leadCapped : .none
        case .reinstall: return isLast ? .none : .reinstalled
        case .attempts: return .again
        case .timeWarp: return isRemembered ? .warped : .none
        case .stateIntegrity: return random.pick([.none, .contentChanged, .scheduleChanged])
        case .rollingWindow: return isRemembered ? random.pick([.none, .windowFull]) : .none
        case .scheduleSnapshot: return isLast ? random.pick([.none, .storedElsewhere, .storedUnknown]) : .none
        case .notModified: return isRemembered ? random.pick([.none, .unconditionalCall]) : .none
        case .clearedCache: return isRemembered ? random.pick([.cacheCleared, .clearedContentUsed]) : .none
        case .permissionReturned: return isRemembered ? .scheduledWhileDenied : .none
        case .pluginBugs:
            guard isRemembered else { return .none }
            var bugs = bugs
            if case .lines(let wrapper) = plan.form, !LineWrapping.hasTimes(wrapper) {
                // Without stamps nobody can say whether a task still waited when the next one was scheduled.
                bugs.removeAll { $0 == .missForgotten || $0 == .secondTask || $0.hidesExecution }
            }
            // On the last day nothing is scheduled for the next one.
            return isLast ? random.pick(bugs.filter { $0 != .secondTask } + bugsOfLastDay) : random.pick(bugs)
        case .everyday, .bothApps: return everyday(isLast: isLast, plan, &random)
        default: return .none
        }
    }

    private static func everyday(isLast: Bool, _ plan: FleetPlan, _ random: inout StoryRandom) -> Self {
        let habits = plan.habits
        var rest = random.below(1_000_000)
        for (incident, rate) in [
            (PrefetchIncident.deadBattery, plan.faults.deadBattery), (.travelsBefore, plan.faults.zone),
            (.late, habits.late), (.skipped, habits.skipped), (.again, habits.again), (.expires, habits.expired),
            (.networkFailure, habits.networkFailure), (.authFailure, habits.authFailure),
            (.handlerFailure, habits.handlerFailure), (.killed, habits.killed), (.retried, habits.retried),
            (.storageFailure, habits.storageFailure), (.contentLost, habits.contentLost),
            (.contentChanged, habits.contentChanged), (.refused, habits.refused), (.reboot, habits.reboot),
            (.travelsBefore, habits.zoneChange / 2), (.travelsBehind, habits.zoneChange / 2), (.drifts, habits.drift),
            (.reinstalled, habits.reinstall), (.forceRescheduled, habits.forceReschedule),
            (.repeated, habits.repeated), (.revoked, habits.revoked),
        ] {
            if rest < rate {
                // A new installation of the last day would have run more often than it was scheduled.
                return incident == .reinstalled && isLast ? .none : incident
            }
            rest -= rate
        }
        return .none
    }
}
