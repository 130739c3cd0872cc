// SPDX-License-Identifier: Apache-2.0

/// The plugin's task and what it keeps: it fetches under the conditions of a run, caches, and counts for itself.
struct PrefetchTask: Sendable {
    private static let second: Int64 = 1_000_000

    private let scenario: FleetScenario
    private let habits: FleetHabits
    private let tellsConditions: Bool
    let tellsHashes: Bool
    private var hasETag = false
    private var fetchedAt: Int64 = 0
    /// What the hash of the cached content is made of; 0 without any.
    private var content: UInt64 = 0
    /// Whether the task of the day has fetched something.
    private(set) var hasContent = false
    /// The cycle of the last run, and how often its task has run.
    private var cycle: Int32 = -1
    private var runs = 0
    /// What the client has counted itself since it was installed.
    var client = PrefetchCounts()

    init(_ scenario: FleetScenario, _ habits: FleetHabits, _ profile: DeviceProfile) {
        self.scenario = scenario
        self.habits = habits
        tellsConditions = profile.tellsConditions || scenario == .lowPower
        tellsHashes = profile.tellsHashes || scenario == .stateIntegrity
    }

    /// The app is installed anew.
    mutating func reinstall() {
        client = PrefetchCounts()
        hasETag = false
    }

    /// The system starts the task.
    mutating func begin(
        _ today: Appointment,
        _ incident: PrefetchIncident,
        at time: Int64,
        _ diary: inout StoryDiary,
        _ random: inout StoryRandom
    ) {
        var hash = tellsHashes ? today.hash : 0
        if incident == .scheduleChanged, tellsHashes { hash ^= 0x5EED_0000 }
        let isLowPower = isLowPower(incident, &random)
        let network = network(incident, &random)
        diary.pass(until: time)
        if !incident.hidesExecution {
            diary.tell(.executed, of: today, at: time) {
                if tellsConditions { ($0.secondFlag, $0.network) = (isLowPower, network) }
                $0.hash = hash
            }
        }
        hasContent = false
        runs = cycle == today.cycle ? runs + 1 : 1
        cycle = today.cycle
        client.executed += 1
    }

    private func isLowPower(_ incident: PrefetchIncident, _ random: inout StoryRandom) -> Bool {
        if scenario == .lowPower { return true }
        return random.chance(incident == .late ? max(habits.lowPower, 600_000) : habits.lowPower)
    }

    private func network(_ incident: PrefetchIncident, _ random: inout StoryRandom) -> StoryStep.Network {
        if incident == .networkFailure { return random.chance(500_000) ? .none : .cellular }
        return random.chance(habits.cellular) ? .cellular : .wifi
    }

    /// The task fetches and ends.
    ///
    /// - Parameter start: when it was started.
    mutating func fetch(
        _ today: Appointment,
        _ incident: PrefetchIncident,
        from start: Int64,
        _ diary: inout StoryDiary,
        _ random: inout StoryRandom
    ) {
        let isUntold = incident == .fetchUntold
        if !isUntold { diary.tell(.fetchStarted, of: today, at: max(start, diary.now) + 300_000) }
        let isConditional = hasETag && incident != .unconditionalCall
        diary.tell(.called, of: today, at: max(start, diary.now) + 40_000) { $0.flag = isConditional }
        let took = max(habits.durations.draw(&random) - 340_000, 10_000)
        switch incident {
        case .expires: expire(today, from: start, &diary, &random)
        case .networkFailure, .failedRunUntold:
            fail(today, .network, status: random.pick([0, 503]), at: diary.now + took, &diary)
        case .authFailure: fail(today, .auth, status: 401, at: diary.now + took, &diary)
        case .handlerFailure:
            diary.tell(.abandoned, of: today, at: diary.now + took) { $0.reason = .system }
            client.failed(.system)
        case .killed: break
        case .again: tryOnce(today, from: start, took: took, &diary, &random)
        case .retried:
            for _ in 0..<random.from(1...2) {
                diary.tell(.failed, of: today, at: diary.now + 2 * Self.second) {
                    ($0.reason, $0.status, $0.flag) = (.network, 503, true)
                }
            }
            succeed(today, incident, at: diary.now + 2 * Self.second, took: took, &diary, &random)
        case .endsTwice:
            diary.tell(.failed, of: today, at: diary.now + took) { ($0.reason, $0.status) = (.network, 503) }
            client.failed(.network)
            succeed(today, incident, at: diary.now + 2 * Self.second, took: took, &diary, &random)
        case .takesTooLong:
            let took = random.from(31_000...55_000) * 1_000
            succeed(today, incident, at: start + took, took: took, &diary, &random)
        default: succeed(today, incident, at: diary.now + took, took: took, &diary, &random)
        }
    }

    /// One of several runs of the task: it is killed, ended or fails, and a later one may succeed.
    private mutating func tryOnce(
        _ today: Appointment,
        from start: Int64,
        took: Int64,
        _ diary: inout StoryDiary,
        _ random: inout StoryRandom
    ) {
        switch random.below(runs == 1 ? 3 : 6) {
        case 0: break
        case 1: expire(today, from: start, &diary, &random)
        case 2: fail(today, .network, status: 503, at: diary.now + took, &diary)
        default: succeed(today, .again, at: diary.now + took, took: took, &diary, &random)
        }
    }

    private mutating func expire(
        _ today: Appointment,
        from start: Int64,
        _ diary: inout StoryDiary,
        _ random: inout StoryRandom
    ) {
        diary.tell(.expired, of: today, at: start + random.from(2_000...30_000) * 1_000)
        diary.tell(.completed, of: today, at: diary.now + 5_000)
        client.failed(.system)
    }

    private mutating func fail(
        _ today: Appointment,
        _ reason: StoryStep.Reason,
        status: Int16,
        at time: Int64,
        _ diary: inout StoryDiary
    ) {
        diary.tell(.failed, of: today, at: time) { ($0.reason, $0.status) = (reason, status) }
        if reason == .auth { diary.tell(.tokenExpired, of: today, at: diary.now + 4_000) }
        diary.tell(.completed, of: today, at: diary.now + 8_000) { $0.reason = reason }
        client.failed(reason)
    }

    private mutating func succeed(
        _ today: Appointment,
        _ incident: PrefetchIncident,
        at time: Int64,
        took: Int64,
        _ diary: inout StoryDiary,
        _ random: inout StoryRandom
    ) {
        let isUnchanged = incident == .unconditionalCall || hasETag && random.chance(unchangedRate)
        let ttl: Int32 = incident == .contentTooOld ? 60 : random.pick([21_600, 43_200, 86_400])
        let bytes = random.from(400...40_000)
        let isUntold = incident == .fetchUntold
        if !isUntold {
            diary.tell(.succeeded, of: today, at: time) {
                ($0.status, $0.ttl, $0.amount, $0.begin) = (isUnchanged ? 304 : 200, ttl, took, bytes)
                if incident == .timeDiffers { $0.dueError = 3_600 * Self.second }
            }
        }
        client.success += 1
        hasETag = true
        hasContent = true
        fetchedAt = diary.now
        content = tellsHashes ? random.next() | 1 : 0
        if incident == .storageFailure {
            diary.tell(.cacheFailed, of: today, at: diary.now + 20_000)
            diary.tell(.storageUnavailable, of: today, at: diary.now + 3_000)
        } else if !isUntold {
            let hash = content
            diary.tell(.cached, of: today, at: diary.now + 20_000) {
                $0.hash = hash
                if incident == .timeToLiveDiffers { $0.ttl = 7_200 }
            }
        }
        if !isUntold { diary.tell(.completed, of: today, at: diary.now + 15_000) { $0.flag = true } }
    }

    private var unchangedRate: Int64 { scenario == .notModified ? 800_000 : 200_000 }

    /// The notification uses what was fetched.
    mutating func use(_ today: Appointment, _ incident: PrefetchIncident, at time: Int64, _ diary: inout StoryDiary) {
        let age = (max(time, diary.now) - fetchedAt) / Self.second
        let hash = content == 0 || incident != .contentChanged ? content : content ^ 0xBAD0
        diary.tell(.used, of: today, at: time) { ($0.amount, $0.hash) = (age, hash) }
        client.used += 1
    }

    /// The app drops its cached content, for another user or for space.
    mutating func clearCache(at time: Int64, isOfUser: Bool, _ diary: inout StoryDiary) {
        if isOfUser { diary.tell(.identityChanged, at: time) }
        diary.tell(.cacheCleared, at: max(time, diary.now) + 2_000)
    }
}
