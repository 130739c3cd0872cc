// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// The days of a device with the plugin: each has a notification, and a task that fetches for it before.
///
/// Days lie at least 5 hours apart, and clocks are set between them, so that the stamps of a day are in order whatever
/// clock they follow. The last day schedules nothing for the next one, so that all cycles end with the story.
struct PrefetchStory: Sendable {
    private static let second: Int64 = 1_000_000
    private static let minute: Int64 = 60_000_000

    private let plan: FleetPlan
    private let scenario: FleetScenario
    private let profile: DeviceProfile
    private var random: StoryRandom
    private var diary: StoryDiary
    private var task: PrefetchTask
    private(set) var zone: DeviceZone
    private var today: Appointment
    /// The notification of the next day, once it is scheduled.
    private var tomorrow: Appointment?
    private var isSubmitted = false
    private var hasLaunched = false
    private var incident: PrefetchIncident
    private var nextIncident: PrefetchIncident
    /// By how much the clock of the app is ahead, once it was moved.
    private var warp: Int64 = 0

    init(_ plan: FleetPlan, number: Int, profile: DeviceProfile) {
        self.plan = plan
        self.profile = profile
        scenario = plan.scenario(of: number)
        random = StoryRandom(seed: plan.seed, stream: UInt64(number) &* 2 + 1)
        zone = profile.zone
        today = Appointment(firstAfter: plan.start.microseconds, profile, zone)
        let clockDrift = random.from(-plan.faults.clockDrift...plan.faults.clockDrift) * 86_400
        diary = StoryDiary(plan, clockDrift: clockDrift)
        task = PrefetchTask(scenario, plan.habits, profile)
        incident = .none
        nextIncident = .none
        incident = .draw(day: 0, scenario, plan, &random)
        nextIncident = .draw(day: 1, scenario, plan, &random)
    }

    /// What the client has counted itself since it was installed.
    var client: PrefetchCounts { task.client }

    /// Tells a day.
    mutating func tell(day: Int, into told: inout [StoryStep]) {
        diary.exchange(&told)
        diary.begin()
        if day > 0 { diary.setClock(&random) }
        let isLast = day == plan.days - 1
        if incident == .denied {
            launch(at: today.begin - random.from(60...240) * Self.minute, pending: false)
            diary.tell(.denied, at: diary.now + Self.second)
        } else {
            if !isSubmitted { launchToSubmit() }
            disturb()
            tellCycle(isLast: isLast)
            endDay(isLast: isLast)
        }
        if profile.sendsCounters { diary.tell(.snapshot, at: diary.now + 10 * Self.second) }
        isSubmitted = tomorrow != nil
        today = tomorrow ?? Appointment(after: today, profile, zone)
        tomorrow = nil
        incident = nextIncident
        nextIncident = .draw(day: day + 2, scenario, plan, &random)
        diary.exchange(&told)
    }

    // MARK: Before the task

    private mutating func launch(at time: Int64, pending: Bool) {
        diary.tell(.registered, at: time)
        diary.tell(.launched, at: diary.now + 2_000) { $0.flag = pending }
        if !hasLaunched, incident != .denied { diary.tell(.granted, at: diary.now + 40_000) }
        hasLaunched = true
        warp = 0
    }

    /// The user opens the app, which schedules the notification.
    private mutating func launchToSubmit() {
        let isCapped = incident == .leadCapped
        let time =
            switch incident {
            case .leadCapped: today.due - random.from(120...180) * Self.second
            case .leadTooShort: today.begin - 32 * Self.second
            default: today.begin - random.from(60...240) * Self.minute
            }
        launch(at: time, pending: false)
        if isCapped {
            // By the clock that it is stamped with, a full minute and up to a second.
            today.begin = (diary.clock / Self.second + 63) * Self.second
        }
        if incident == .leadDiffers { today.begin -= 20 * Self.minute }
        submit(today, at: diary.now + 2 * Self.second, isFirst: true)
        if incident == .repeated {
            for _ in 0..<2 { submit(today, at: diary.now + random.from(2...9) * Self.second, isFirst: false) }
        }
    }

    /// Submits the task of a notification.
    private mutating func submit(_ appointment: Appointment, at time: Int64, isFirst: Bool) {
        let minutes = Int16(profile.leadMinutes)
        let hash = task.tellsHashes ? appointment.hash : 0
        let isToday = appointment.cycle == today.cycle
        let what = isToday ? incident : nextIncident
        let isRefused = isToday && isFirst && what == .refused
        if isToday, what == .leadCapped { diary.tell(.leadCapped, of: appointment, at: time) }
        // The plugin is asked again and submits nothing, because the task is waiting.
        let isWaiting = isToday && what == .repeated && !isFirst
        if what != .schedulingUntold, !isWaiting {
            diary.tell(isRefused ? .submissionRefused : .submitted, of: appointment, at: time + 1_500) {
                $0.begin = appointment.begin
                $0.minutes = minutes
                if !isRefused { $0.hash = hash }
            }
        }
        diary.tell(.notificationScheduled, of: appointment, at: max(diary.now, time) + 3_000)
        if what != .notPersisted { diary.tell(.persisted, of: appointment, at: diary.now + 2_000) }
        if isFirst, !isRefused { task.client.scheduled += 1 }
    }

    /// What happens between the scheduling and the task.
    private mutating func disturb() {
        let time = today.begin - random.from(2...20) * Self.minute
        switch incident {
        case .reboot:
            launch(at: time, pending: true)
            submit(today, at: diary.now + 2 * Self.second, isFirst: false)
        case .reinstalled:
            launch(at: time, pending: false)
            task.reinstall()
            submit(today, at: diary.now + 3 * Self.second, isFirst: false)
            task.client.scheduled += 1
        case .forceRescheduled:
            diary.tell(.cancelledAll, at: time)
            submit(today, at: diary.now + Self.second, isFirst: false)
        case .travelsBefore: travel(at: time)
        case .scheduledWhileDenied:
            diary.tell(.denied, at: time) { $0.flag = true }
            submit(today, at: diary.now + 10 * Self.second, isFirst: false)
            diary.tell(.granted, at: diary.now + 50 * Self.second)
        case .warped: moveClock()
        case .secondTask where tomorrow == nil: submitTomorrow(at: time)
        default: break
        }
    }

    private mutating func travel(at time: Int64) {
        zone = random.pick(DeviceZone.all)
        diary.tell(.zoneChanged, at: time)
    }

    /// The tester moves the clock of the app to about the earliest begin of the task, or somewhat behind it.
    private mutating func moveClock() {
        let time = max(diary.now + Self.second, today.begin - random.from(30...200) * Self.minute)
        let ahead = (today.begin - time) / Self.minute
        guard ahead > 0 else { return }
        let minutes = ahead + random.from(0...profile.leadMinutes + 18)
        diary.tell(.warped, at: time) { $0.minutes = Int16(minutes) }
        warp = minutes * Self.minute
    }

    // MARK: The task and the notification

    private mutating func tellCycle(isLast: Bool) {
        switch incident {
        case .skipped, .refused, .missForgotten:
            showOnDemand()
            if incident == .skipped { relaunch(isLast: isLast) }
            if incident == .missForgotten { forgetMiss(isLast: isLast) }
        case .deadBattery: relaunch(isLast: isLast)
        case .late:
            let start = today.begin + max(plan.habits.lateDelays.draw(&random), 901 * Self.second)
            guard start >= today.due - 30 * Self.second else {
                execute(at: start, isLast: isLast)
                return show(at: today.due + random.below(3 * Self.second))
            }
            showOnDemand()
            execute(at: max(start, diary.now + 5 * Self.second), isLast: isLast)
        case .warped:
            execute(at: diary.now + random.from(5...60) * Self.second, isLast: isLast)
            show(at: max(diary.now + Self.second, today.due - warp + random.below(3 * Self.second)))
            // The next process follows the device's clock again.
            launch(at: diary.now + 20 * Self.minute, pending: !isLast)
        default:
            let delay = plan.habits.delays.draw(&random)
            let start = today.begin + (incident == .travelsBehind ? min(delay, 60 * Self.second) : delay)
            execute(at: start, isLast: isLast)
            if incident == .travelsBehind {
                travel(at: max(diary.now, today.due - random.from(30...100) * Self.second))
            }
            conclude()
        }
    }

    /// The system starts the task, which schedules the next one first and then fetches.
    private mutating func execute(at time: Int64, isLast: Bool) {
        task.begin(today, incident, at: time, &diary, &random)
        if !isLast { submitTomorrow(at: diary.now + 30_000) }
        task.fetch(today, incident, from: time, &diary, &random)
        guard incident == .again else { return }
        for _ in 0..<random.from(1...2) {
            let again = diary.now + random.from(20...90) * Self.second
            guard !task.hasContent, again < today.due - 10 * Self.second else { return }
            task.begin(today, .again, at: again, &diary, &random)
            if let tomorrow {
                submit(tomorrow, at: diary.now + 30_000, isFirst: false)
                task.client.scheduled += 1
            }
            task.fetch(today, .again, from: again, &diary, &random)
        }
    }

    /// What becomes of the notification after a task that ran in time.
    private mutating func conclude() {
        switch incident {
        case .revoked: break
        case .networkFailure where scenario != .networkFailure && random.chance(150_000):
            showOnDemand(isDelivered: false)
        case .again where !task.hasContent: showOnDemand()
        case .cacheCleared:
            task.clearCache(at: max(diary.now + 3 * Self.second, today.due - 20 * Self.second), isOfUser: true, &diary)
            showOnDemand()
        case .clearedContentUsed:
            task.clearCache(at: max(diary.now + 3 * Self.second, today.due - 20 * Self.second), isOfUser: false, &diary)
            show(at: today.due + random.below(3 * Self.second))
        case .networkFailure, .authFailure, .handlerFailure, .expires, .storageFailure, .contentLost, .killed,
            .failedRunUntold:
            showOnDemand()
        case .drifts: show(at: today.due + random.from(62...900) * Self.second + random.below(Self.second))
        default: show(at: today.due + random.below(3 * Self.second))
        }
    }

    /// The notification shows what was fetched.
    private mutating func show(at time: Int64) {
        let isLate = incident == .usedLate
        if isLate {
            diary.tell(.delivered, of: today, at: time)
            task.use(today, incident, at: diary.now + random.from(62...200) * Self.second, &diary)
        } else {
            task.use(today, incident, at: time, &diary)
            diary.tell(.delivered, of: today, at: diary.now + 50_000)
        }
        // What was never told to be fetched is in no summary, nor what was told of another notification.
        guard incident != .fetchUntold, incident != .timeDiffers else { return }
        diary.tell(.summed, of: today, at: diary.now + 20_000) { ($0.flag, $0.secondFlag) = (true, true) }
    }

    /// The notification fetches when it is due.
    private mutating func showOnDemand(isDelivered: Bool = true) {
        diary.tell(.contentMissing, of: today, at: today.due + random.below(2 * Self.second))
        if isDelivered { diary.tell(.delivered, of: today, at: diary.now + random.from(300_000...2_000_000)) }
    }

    // MARK: Behind the notification

    /// The next launch after a task that never ran.
    private mutating func relaunch(isLast: Bool) {
        launch(at: today.due + random.from(16...300) * Self.minute, pending: !isLast)
        diary.tell(.missed, of: today, at: diary.now + Self.second)
        if !isLast { submitTomorrow(at: diary.now + 30_000) }
    }

    /// A launch that does not find out about the miss; the user schedules the next notification some time later.
    private mutating func forgetMiss(isLast: Bool) {
        launch(at: today.due + random.from(16...300) * Self.minute, pending: false)
        launch(at: diary.now + random.from(6...20) * Self.minute, pending: false)
        if !isLast { submitTomorrow(at: diary.now + 30_000) }
    }

    /// Schedules the notification of the next day.
    private mutating func submitTomorrow(at time: Int64) {
        // A lead is too short where the user schedules at the last moment.
        guard tomorrow == nil, nextIncident != .leadTooShort else { return }
        // The system refuses only what the user schedules.
        if nextIncident == .refused { nextIncident = .none }
        var next = Appointment(after: today, profile, zone)
        if nextIncident == .leadDiffers { next.begin -= 20 * Self.minute }
        submit(next, at: time, isFirst: true)
        tomorrow = next
    }

    /// What the app tells of its state at the end of a day.
    private mutating func endDay(isLast: Bool) {
        // The window of a task that was never told to run is over by then.
        if incident.hidesExecution { launch(at: diary.now + 30 * Self.minute, pending: !isLast) }
        if incident == .launchForgotten {
            launch(at: diary.now + 30 * Self.minute, pending: true)
            launch(at: diary.now + random.from(6...20) * Self.minute, pending: false)
        }
        if incident == .miscounted { task.client.success += 3 }
        if scenario == .rollingWindow || incident == .windowFull {
            let limit: Int32 = profile.platform == .android ? 500 : 64
            let pending = incident == .windowFull ? Int64(limit) + random.from(1...9) : random.from(1...Int64(limit))
            diary.tell(.rollingWindow, at: diary.now + 3 * Self.second) { ($0.amount, $0.ttl) = (pending, limit) }
        }
        if scenario == .scheduleSnapshot {
            let (stored, hash) = (tomorrow ?? today, task.tellsHashes)
            let (isElsewhere, isUnknown) = (incident == .storedElsewhere, incident == .storedUnknown)
            let minutes = Int16(profile.leadMinutes)
            diary.tell(.scheduleSnapshot, at: diary.now + 2 * Self.second) {
                ($0.amount, $0.due, $0.begin) = (Int64(stored.cycle), stored.due, stored.begin)
                if hash { $0.hash = stored.hash }
                $0.minutes = minutes
                ($0.flag, $0.secondFlag) = (isElsewhere, isUnknown)
                if isElsewhere { $0.dueError = 3_600 * Self.second }
            }
        }
    }
}
