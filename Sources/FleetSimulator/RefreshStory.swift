// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The days of a device with the second app: each run checks whether a test is due, and schedules the next run.
struct RefreshStory: Sendable {
    private static let second: Int64 = 1_000_000
    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 3_600_000_000
    private static let day: Int64 = 24 * hour
    /// The days after the last test that the app's guide checks.
    private static let cadence: [Int64] = [0, 30, 89, 90, 100]

    /// How a run goes.
    private enum Course { case done, failed, expires, killed, notAuthenticated, noNetwork, tooRecent }

    private let scenario: FleetScenario
    private let faults: FleetFaults
    private let resolution: Int64
    private let start: Int64
    private var random: StoryRandom
    private var clockOffset: Int64 = 0
    private var nextRun: Int64
    private var run: Int64 = 0
    private var now: Int64
    private var testedAt: Int64
    private var notifiedAt: Int64?
    private var isAuthorised: Bool
    private var steps: [StoryStep] = []

    init(_ plan: FleetPlan, number: Int) {
        scenario = plan.scenario(of: number)
        faults = plan.faults
        if case .lines(let wrapper) = plan.form {
            resolution = LineForm.resolution(of: wrapper)
        } else {
            resolution = 1
        }
        random = StoryRandom(seed: plan.seed, stream: UInt64(number) &* 2 + 1)
        start = plan.start.microseconds
        now = start
        nextRun = start + random.from(5...60) * Self.minute
        testedAt = start - random.from(0...120) * Self.day - random.below(Self.day)
        isAuthorised = random.chance(900_000)
    }

    /// Tells the runs that begin on a day.
    mutating func tell(day: Int, into told: inout [StoryStep]) {
        swap(&steps, &told)
        steps.removeAll(keepingCapacity: true)
        if day > 0, random.chance(faults.clockStep) { clockOffset = random.from(-20 * Self.minute...20 * Self.minute) }
        while nextRun < start + Int64(day + 1) * Self.day {
            tellRun(at: nextRun)
            run += 1
            nextRun = now + 4 * Self.hour + random.from(21...(scenario == .refreshEveryday ? 300 : 40)) * Self.minute
        }
        swap(&steps, &told)
    }

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

    private mutating func course() -> Course {
        switch scenario {
        case .refreshFastFail: return [.notAuthenticated, .noNetwork, .tooRecent][Int(run % 3)]
        case .refreshExpiration: return .expires
        case .refreshEveryday: break
        default: return .done
        }
        switch random.below(100) {
        case 0..<80: return .done
        case 80..<84: return .failed
        case 84..<86: return .expires
        case 86: return .killed
        case 87..<90: return .notAuthenticated
        case 90..<97: return .noNetwork
        default: return .tooRecent
        }
    }

    private mutating func daysSinceTest() -> Int64 {
        if scenario == .refreshCadence { return Self.cadence[Int(run % 5)] }
        if scenario == .refreshAuthorization || scenario == .refreshDeduplication { return 100 }
        // The user takes the test some time after the notification.
        if let notifiedAt, now - notifiedAt > 2 * Self.day, testedAt < notifiedAt, random.chance(200_000) {
            testedAt = now - Self.hour
        }
        return (now - testedAt) / Self.day
    }

    private mutating func tellRun(at time: Int64) {
        tell(.runStarted, at: time)
        let begin = now
        let course = course()
        let skips: [Course] = [.notAuthenticated, .noNetwork, .tooRecent]
        if let reason = skips.firstIndex(of: course) {
            tell(.runSkipped, at: now + random.from(50_000...900_000)) { $0.amount = Int64(reason) }
            return schedule()
        }
        let days = daysSinceTest()
        tell(.runChecked, at: now + random.from(100_000...900_000)) { ($0.amount, $0.flag) = (days, days >= 90) }
        switch course {
        case .killed: return
        case .expires: tell(.runExpired, at: begin + random.from(29_000...31_000) * 1_000)
        default:
            if course == .done, days >= 90 { notify() }
            let took = random.chance(10_000) ? random.from(2_050...2_800) : random.from(60...1_900)
            tell(.runCompleted, at: max(begin + took * 10_000, now + 100_000)) {
                ($0.amount, $0.flag) = (took, course == .done)
            }
        }
        schedule()
    }

    private mutating func notify() {
        if scenario == .refreshAuthorization { isAuthorised = run > 0 }
        if scenario == .refreshDeduplication || scenario == .refreshCadence { isAuthorised = true }
        let time = now + 120_000
        guard isAuthorised else { return tell(.runNotNotified, at: time) { $0.amount = -1 } }
        if let notifiedAt, now - notifiedAt < 90 * Self.day {
            let days = (now - notifiedAt) / Self.day
            return tell(.runNotNotified, at: time) { $0.amount = days }
        }
        tell(.runNotified, at: time)
        notifiedAt = now
    }

    private mutating func schedule() {
        let isRefused = scenario == .refreshEveryday && random.chance(10_000)
        tell(isRefused ? .runRefused : .runScheduled, at: now + 15_000)
    }
}
