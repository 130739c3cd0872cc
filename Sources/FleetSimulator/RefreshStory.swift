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

    /// A bug of the app in a run.
    private enum Bug: CaseIterable {
        case none, saysWrong, notifiesTooSoon, notifiesTwice, worksAfterSkip, keepsSilent, forgetsNext, endsLate
        case returnsSoon
    }

    private let scenario: FleetScenario
    private let start: Int64
    private let end: Int64
    private var random: StoryRandom
    private var diary: StoryDiary
    private var nextRun: Int64
    private var run: Int64 = 0
    private var testedAt: Int64
    private var notifiedAt: Int64?
    private var isAuthorised: Bool
    private var bug = Bug.none

    init(_ plan: FleetPlan, number: Int) {
        scenario = plan.scenario(of: number)
        random = StoryRandom(seed: plan.seed, stream: UInt64(number) &* 2 + 1)
        start = plan.start.microseconds
        end = start + Int64(plan.days) * Self.day
        diary = StoryDiary(plan)
        nextRun = start + random.from(5...60) * Self.minute
        testedAt = start - random.from(0...120) * Self.day - random.below(Self.day)
        isAuthorised = random.chance(900_000)
    }

    /// Tells the runs that begin on a day.
    mutating func tell(day: Int, into told: inout [StoryStep]) {
        diary.exchange(&told)
        diary.begin()
        if day > 0 { diary.setClock(&random) }
        while nextRun < start + Int64(day + 1) * Self.day {
            tellRun(at: nextRun)
            run += 1
            let isVaried = scenario == .refreshEveryday || scenario == .bothApps
            let pause = bug == .returnsSoon ? random.from(30...200) : 240 + random.from(21...(isVaried ? 300 : 40))
            nextRun = diary.now + pause * Self.minute
        }
        diary.exchange(&told)
    }

    private mutating func course() -> Course {
        switch scenario {
        case .refreshFastFail: return [.notAuthenticated, .noNetwork, .tooRecent][Int(run % 3)]
        case .refreshExpiration: return .expires
        case .refreshEveryday, .bothApps: break
        case .refreshBugs: return bug == .worksAfterSkip ? .tooRecent : .done
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
        switch bug {
        case .notifiesTooSoon: return random.from(0...89)
        case .notifiesTwice, .keepsSilent: return random.from(90...120)
        case .saysWrong: return random.from(60...120)
        default: break
        }
        // The user takes the test some time after the notification.
        if let notifiedAt, diary.now - notifiedAt > 2 * Self.day, testedAt < notifiedAt, random.chance(200_000) {
            testedAt = diary.now - Self.hour
        }
        return (diary.now - testedAt) / Self.day
    }

    private mutating func tellRun(at time: Int64) {
        bug = scenario == .refreshBugs ? random.pick(Bug.allCases) : .none
        // Of the last run nobody can say that the next one is missing.
        if bug == .forgetsNext, time > end - 6 * Self.hour { bug = .none }
        diary.tell(.runStarted, at: time)
        let begin = diary.now
        let course = course()
        let skips: [Course] = [.notAuthenticated, .noNetwork, .tooRecent]
        if let reason = skips.firstIndex(of: course) {
            diary.tell(.runSkipped, at: diary.now + random.from(50_000...900_000)) { $0.amount = Int64(reason) }
            guard bug == .worksAfterSkip else { return schedule() }
        }
        let days = daysSinceTest()
        let isAvailable = (days >= 90) != (bug == .saysWrong)
        diary.tell(.runChecked, at: diary.now + random.from(100_000...900_000)) {
            ($0.amount, $0.flag) = (days, isAvailable)
        }
        switch course {
        case .killed: return
        case .expires: diary.tell(.runExpired, at: begin + random.from(29_000...31_000) * 1_000)
        default:
            let isDue = isAvailable && bug != .keepsSilent || bug == .notifiesTooSoon
            if course != .failed, isDue { notify() }
            var took = random.chance(10_000) ? random.from(2_050...2_800) : random.from(200...1_900)
            if bug == .endsLate { took = random.from(3_600...6_000) }
            diary.tell(.runCompleted, at: max(begin + took * 10_000, diary.now + 100_000)) {
                ($0.amount, $0.flag) = (took, course != .failed)
            }
        }
        if bug != .forgetsNext { schedule() }
    }

    private mutating func notify() {
        if scenario == .refreshAuthorization { isAuthorised = run > 0 }
        if scenario == .refreshDeduplication || scenario == .refreshCadence { isAuthorised = true }
        let time = diary.now + 120_000
        if bug == .notifiesTooSoon || bug == .notifiesTwice {
            diary.tell(.runNotified, at: time)
            if bug == .notifiesTwice { diary.tell(.runNotified, at: diary.now + 3 * Self.second) }
            notifiedAt = diary.now
            return
        }
        guard isAuthorised else { return diary.tell(.runNotNotified, at: time) { $0.amount = -1 } }
        if let notifiedAt, diary.now - notifiedAt < 90 * Self.day {
            let days = (diary.now - notifiedAt) / Self.day
            return diary.tell(.runNotNotified, at: time) { $0.amount = days }
        }
        diary.tell(.runNotified, at: time)
        notifiedAt = diary.now
    }

    private mutating func schedule() {
        let isRefused = scenario == .refreshEveryday && random.chance(10_000)
        diary.tell(isRefused ? .runRefused : .runScheduled, at: diary.now + 15_000)
    }
}
