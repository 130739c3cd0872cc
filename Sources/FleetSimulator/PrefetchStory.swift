// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The days of a device with the plugin: each has a notification, and a task that fetches for it before.
///
/// Days lie at least 5 hours apart, and clocks are set between them, so that the stamps of a day are in order whatever
/// clock they follow. The last day schedules nothing for the next one, so that all cycles end with the story.
struct PrefetchStory: Sendable {
    /// What happens on a day.
    private enum Incident {
        case none, late, skipped, expires, networkFailure, authFailure, handlerFailure, killed, retried, storageFailure
        case contentLost, refused, reboot, travelsBefore, travelsBehind, drifts, reinstalled, forceRescheduled, repeated
        case revoked, denied, deadBattery, leadCapped
    }

    /// A notification and its task.
    private struct Appointment {
        var cycle: Int32
        var due: Int64
        var begin: Int64
    }

    private static let second: Int64 = 1_000_000
    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 3_600_000_000
    /// How far a clock may be off.
    private static let worstClock: Int64 = 20 * minute

    private let plan: FleetPlan
    private let scenario: FleetScenario
    private let profile: DeviceProfile
    private let resolution: Int64
    private var random: StoryRandom
    private(set) var zone: DeviceZone
    private var today: Appointment
    /// The notification of the next day, once it is scheduled.
    private var tomorrow: Appointment?
    private var isSubmitted = false
    private var hasLaunched = false
    private var hasETag = false
    private var incident: Incident
    private var nextIncident: Incident
    private var clockOffset: Int64 = 0
    private let clockDrift: Int64
    private var fetchedAt: Int64 = 0
    /// The time of the last step, by the true clock.
    private var now: Int64
    /// What the client has counted itself since it was installed.
    private(set) var client = PrefetchCounts()
    private var steps: [StoryStep] = []

    init(_ plan: FleetPlan, number: Int, profile: DeviceProfile) {
        self.plan = plan
        self.profile = profile
        scenario = plan.scenario(of: number)
        if case .lines(let wrapper) = plan.form {
            resolution = LineForm.resolution(of: wrapper)
        } else {
            resolution = 1
        }
        random = StoryRandom(seed: plan.seed, stream: UInt64(number) &* 2 + 1)
        zone = profile.zone
        now = plan.start.microseconds
        var day = (now + zone.offset(at: now)).floored(by: 24 * Self.hour)
        while zone.moment(day: day, minuteOfDay: profile.minuteOfDay) < now + 6 * Self.hour { day += 1 }
        let due = zone.moment(day: day, minuteOfDay: profile.minuteOfDay)
        today = Appointment(cycle: 0, due: due, begin: due - profile.leadMinutes * Self.minute)
        clockDrift = random.from(-plan.faults.clockDrift...plan.faults.clockDrift) * 86_400
        incident = .none
        nextIncident = .none
        incident = draw(day: 0)
        nextIncident = draw(day: 1)
    }

    /// Tells a day.
    mutating func tell(day: Int, into told: inout [StoryStep]) {
        swap(&steps, &told)
        steps.removeAll(keepingCapacity: true)
        if day > 0 { setClock() }
        let isLast = day == plan.days - 1
        if incident == .denied {
            launch(at: today.begin - random.from(60...240) * Self.minute, pending: false)
            tell(.denied, at: now + Self.second)
        } else {
            if !isSubmitted { launchToSubmit() }
            disturb()
            tellCycle(isLast: isLast)
        }
        if profile.sendsCounters, plan.form == .events {
            tell(.snapshot, at: now + 10 * Self.second)
        }
        isSubmitted = tomorrow != nil
        today = tomorrow ?? following(today)
        tomorrow = nil
        incident = nextIncident
        nextIncident = draw(day: day + 2)
        swap(&steps, &told)
    }

    // MARK: What happens when

    private mutating func draw(day: Int) -> Incident {
        let isLast = day >= plan.days - 1
        switch scenario {
        case .healthy, .multiDay, .dst: return .none
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
        case .everyday: break
        default: return .none
        }
        let habits = plan.habits
        var rest = random.below(1_000_000)
        for (incident, rate) in [
            (Incident.deadBattery, plan.faults.deadBattery), (.travelsBefore, plan.faults.zone), (.late, habits.late),
            (.skipped, habits.skipped), (.expires, habits.expired), (.networkFailure, habits.networkFailure),
            (.authFailure, habits.authFailure), (.handlerFailure, habits.handlerFailure), (.killed, habits.killed),
            (.retried, habits.retried), (.storageFailure, habits.storageFailure), (.contentLost, habits.contentLost),
            (.refused, habits.refused), (.reboot, habits.reboot), (.travelsBefore, habits.zoneChange / 2),
            (.travelsBehind, habits.zoneChange / 2), (.drifts, habits.drift), (.reinstalled, habits.reinstall),
            (.forceRescheduled, habits.forceReschedule), (.repeated, habits.repeated), (.revoked, habits.revoked),
        ] {
            if rest < rate {
                // A new installation of the last day would have run more often than it was scheduled.
                return incident == .reinstalled && isLast ? .none : incident
            }
            rest -= rate
        }
        return .none
    }

    private mutating func setClock() {
        clockOffset += clockDrift
        if random.chance(plan.faults.clockStep) {
            clockOffset = random.from(-Self.worstClock...Self.worstClock)
        }
        clockOffset = min(max(clockOffset, -Self.worstClock), Self.worstClock)
    }

    /// From the earliest begin to the execution of a task that runs in its window, by the points of the distribution.
    private mutating func delay() -> Int64 {
        let points = plan.habits.delays
        guard points.count > 1 else { return (points.first ?? 0) * Self.second }
        let place = random.below(Int64(points.count - 1) * 1_000)
        let index = Int(place / 1_000)
        let seconds = points[index] * 1_000 + (points[index + 1] - points[index]) * (place % 1_000)
        return seconds * 1_000 + random.below(1_000)
    }

    // MARK: The parts of a day

    private mutating func tell(
        _ kind: StoryStep.Kind,
        at time: Int64,
        _ change: (inout StoryStep) -> Void = { _ in }
    ) {
        now = max(now, time)
        let stamp = now + clockOffset
        var step = StoryStep(kind, stamp - stamp % resolution)
        change(&step)
        steps.append(step)
    }

    /// Tells a step of a cycle, by default of today's.
    private mutating func tell(
        _ kind: StoryStep.Kind,
        of appointment: Appointment,
        at time: Int64,
        _ change: (inout StoryStep) -> Void = { _ in }
    ) {
        tell(kind, at: time) {
            $0.cycle = appointment.cycle
            $0.due = appointment.due
            change(&$0)
        }
    }

    private mutating func launch(at time: Int64, pending: Bool) {
        tell(.registered, at: time)
        tell(.launched, at: now + 2_000) { $0.flag = pending }
        if !hasLaunched, incident != .denied { tell(.granted, at: now + 40_000) }
        hasLaunched = true
    }

    /// The user opens the app, which schedules the notification.
    private mutating func launchToSubmit() {
        let isCapped = incident == .leadCapped
        launch(
            at: isCapped
                ? today.due - random.from(120...180) * Self.second : today.begin - random.from(60...240) * Self.minute,
            pending: false
        )
        if isCapped {
            // By the clock that it is stamped with, a full minute and up to a second.
            today.begin = ((now + clockOffset) / Self.second + 63) * Self.second
        }
        submit(today, at: now + 2 * Self.second, isFirst: true)
        if incident == .repeated {
            for _ in 0..<2 { submit(today, at: now + random.from(2...9) * Self.second, isFirst: false) }
        }
    }

    /// Submits the task of a notification.
    private mutating func submit(_ appointment: Appointment, at time: Int64, isFirst: Bool) {
        let minutes = Int16(profile.leadMinutes)
        let isToday = appointment.cycle == today.cycle
        let isRefused = isToday && isFirst && incident == .refused
        if isToday, incident == .leadCapped { tell(.leadCapped, of: appointment, at: time) }
        tell(isRefused ? .submissionRefused : .submitted, of: appointment, at: time + 1_500) {
            $0.begin = appointment.begin
            $0.minutes = minutes
        }
        tell(.notificationScheduled, of: appointment, at: now + 3_000)
        tell(.persisted, of: appointment, at: now + 2_000)
        if isFirst, !isRefused { client.scheduled += 1 }
    }

    /// What happens between the scheduling and the task.
    private mutating func disturb() {
        let time = today.begin - random.from(2...20) * Self.minute
        switch incident {
        case .reboot:
            launch(at: time, pending: true)
            submit(today, at: now + 2 * Self.second, isFirst: false)
        case .reinstalled:
            launch(at: time, pending: false)
            client = PrefetchCounts()
            hasETag = false
            submit(today, at: now + 3 * Self.second, isFirst: false)
            client.scheduled += 1
        case .forceRescheduled:
            tell(.cancelledAll, at: time)
            submit(today, at: now + Self.second, isFirst: false)
        case .travelsBefore: travel(at: time)
        default: break
        }
    }

    private mutating func travel(at time: Int64) {
        zone = random.pick(DeviceZone.all)
        tell(.zoneChanged, at: time)
    }

    private mutating func tellCycle(isLast: Bool) {
        switch incident {
        case .skipped, .refused:
            showOnDemand()
            if incident == .skipped { relaunch(isLast: isLast) }
        case .deadBattery: relaunch(isLast: isLast)
        case .late:
            let start = today.begin + random.from(901...4_000) * Self.second + random.below(Self.second)
            guard start >= today.due - 30 * Self.second else {
                execute(at: start, isLast: isLast)
                return show(at: today.due + random.below(3 * Self.second))
            }
            showOnDemand()
            execute(at: max(start, now + 5 * Self.second), isLast: isLast)
        default:
            let start = today.begin + (incident == .travelsBehind ? min(delay(), 60 * Self.second) : delay())
            execute(at: start, isLast: isLast)
            if incident == .travelsBehind { travel(at: max(now, today.due - random.from(30...100) * Self.second)) }
            conclude()
        }
    }

    /// What becomes of the notification after a task that ran in time.
    private mutating func conclude() {
        switch incident {
        case .revoked: break
        case .networkFailure where scenario == .everyday && random.chance(150_000): showOnDemand(isDelivered: false)
        case .networkFailure, .authFailure, .handlerFailure, .expires, .storageFailure, .contentLost, .killed:
            showOnDemand()
        case .drifts: show(at: today.due + random.from(62...900) * Self.second + random.below(Self.second))
        default: show(at: today.due + random.below(3 * Self.second))
        }
    }

    /// The system starts the task, which schedules the next one first and then fetches.
    private mutating func execute(at time: Int64, isLast: Bool) {
        let isLowPower = scenario == .lowPower
        tell(.executed, of: today, at: time) { $0.secondFlag = isLowPower }
        client.executed += 1
        let start = now
        if !isLast { submitTomorrow() }
        tell(.fetchStarted, of: today, at: start + 300_000)
        let isConditional = hasETag
        tell(.called, at: now + 40_000) { $0.flag = isConditional }
        let took = random.from(200_000...3_000_000)
        switch incident {
        case .expires:
            tell(.expired, of: today, at: start + random.from(2_000...30_000) * 1_000)
            tell(.completed, of: today, at: now + 5_000)
            client.failed(.system)
        case .networkFailure: fail(.network, status: random.pick([0, 503]), at: now + took)
        case .authFailure: fail(.auth, status: 401, at: now + took)
        case .handlerFailure:
            tell(.abandoned, of: today, at: now + took) { $0.reason = .system }
            client.failed(.system)
        case .killed: break
        case .retried:
            for _ in 0..<random.from(1...2) {
                tell(.failed, of: today, at: now + 2 * Self.second) {
                    ($0.reason, $0.status, $0.flag) = (.network, 503, true)
                }
            }
            succeed(at: now + 2 * Self.second, took: took)
        default: succeed(at: now + took, took: took)
        }
    }

    private mutating func fail(_ reason: StoryStep.Reason, status: Int16, at time: Int64) {
        tell(.failed, of: today, at: time) { ($0.reason, $0.status) = (reason, status) }
        if reason == .auth { tell(.tokenExpired, of: today, at: now + 4_000) }
        tell(.completed, of: today, at: now + 8_000) { $0.reason = reason }
        client.failed(reason)
    }

    private mutating func succeed(at time: Int64, took: Int64) {
        let isUnchanged = hasETag && random.chance(200_000)
        let ttl: Int32 = random.pick([21_600, 43_200, 86_400])
        let bytes = random.from(400...40_000)
        tell(.succeeded, of: today, at: time) {
            ($0.status, $0.ttl, $0.amount, $0.begin) = (isUnchanged ? 304 : 200, ttl, took, bytes)
        }
        client.success += 1
        hasETag = true
        fetchedAt = now
        if incident == .storageFailure {
            tell(.cacheFailed, of: today, at: now + 20_000)
            tell(.storageUnavailable, of: today, at: now + 3_000)
        } else {
            tell(.cached, of: today, at: now + 20_000)
        }
        tell(.completed, of: today, at: now + 15_000) { $0.flag = true }
    }

    /// The notification shows what was fetched.
    private mutating func show(at time: Int64) {
        let age = (max(time, now) - fetchedAt) / Self.second
        tell(.used, of: today, at: time) { $0.amount = age }
        client.used += 1
        tell(.delivered, of: today, at: now + 50_000)
        tell(.summed, of: today, at: now + 20_000) { ($0.flag, $0.secondFlag) = (true, true) }
    }

    /// The notification fetches when it is due.
    private mutating func showOnDemand(isDelivered: Bool = true) {
        tell(.contentMissing, of: today, at: today.due + random.below(2 * Self.second))
        if isDelivered { tell(.delivered, of: today, at: now + random.from(300_000...2_000_000)) }
    }

    /// The next launch after a task that never ran.
    private mutating func relaunch(isLast: Bool) {
        launch(at: today.due + random.from(16...300) * Self.minute, pending: !isLast)
        tell(.missed, of: today, at: now + Self.second)
        if !isLast { submitTomorrow() }
    }

    /// Schedules the notification of the next day.
    private mutating func submitTomorrow() {
        // The system refuses only what the user schedules.
        if nextIncident == .refused { nextIncident = .none }
        let next = following(today)
        submit(next, at: now + 30_000, isFirst: true)
        tomorrow = next
    }

    private func following(_ last: Appointment) -> Appointment {
        let earliest = last.due + 18 * Self.hour
        var day = (last.due + zone.offset(at: last.due)).floored(by: 24 * Self.hour) + 1
        while zone.moment(day: day, minuteOfDay: profile.minuteOfDay) < earliest { day += 1 }
        let due = zone.moment(day: day, minuteOfDay: profile.minuteOfDay)
        return Appointment(cycle: last.cycle + 1, due: due, begin: due - profile.leadMinutes * Self.minute)
    }
}

/// The counts of the five families.
package struct PrefetchCounts: Equatable, Sendable {
    package var scheduled: Int64 = 0
    package var executed: Int64 = 0
    package var success: Int64 = 0
    package var network: Int64 = 0
    package var auth: Int64 = 0
    package var system: Int64 = 0
    package var used: Int64 = 0

    package init() {}

    mutating func failed(_ reason: StoryStep.Reason) {
        switch reason {
        case .network: network += 1
        case .auth: auth += 1
        case .system: system += 1
        }
    }

    static func combined(_ left: Self, _ right: Self, _ body: (Int64, Int64) -> Int64) -> Self {
        var result = Self()
        result.scheduled = body(left.scheduled, right.scheduled)
        result.executed = body(left.executed, right.executed)
        result.success = body(left.success, right.success)
        result.network = body(left.network, right.network)
        result.auth = body(left.auth, right.auth)
        result.system = body(left.system, right.system)
        result.used = body(left.used, right.used)
        return result
    }

    static func += (left: inout Self, right: Self) { left = combined(left, right, +) }

    /// Each count by the series of the page.
    package var series: [(name: String, value: Int64)] {
        [
            ("dnp_prefetch_scheduled_total", scheduled), ("dnp_prefetch_executed_total", executed),
            ("dnp_prefetch_success_total", success), (#"dnp_prefetch_failure_total{reason="NETWORK"}"#, network),
            (#"dnp_prefetch_failure_total{reason="AUTH"}"#, auth),
            (#"dnp_prefetch_failure_total{reason="SYSTEM"}"#, system),
            ("dnp_prefetch_used_for_notification_total", used),
        ]
    }
}
