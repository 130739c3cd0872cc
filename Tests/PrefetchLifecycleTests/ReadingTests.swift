// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// Where the rules could be read in two ways, each reading in every order of arrival, event by event and as a file.
@Suite("How the rules read")
struct ReadingTests {
    /// What a history comes to.
    struct Told: Equatable {
        var stages: [UInt64]
        var retries: UInt64
        var broken: [ViolationKind]
        var reasons: [FailureReason?]
    }

    /// A fold that judges a file, whose counters are seen at its end only.
    static func file() -> LifecycleFold {
        LifecycleFold(key: IdentityKey(3, 4), keepsClosedCycles: true, deduplicates: false, isReceiver: false)
    }

    static func told(_ fold: inout LifecycleFold) -> Told {
        fold.finish()
        let cycles = fold.takeClosedCycles()
        return Told(
            stages: fold.totals.stages,
            retries: fold.totals.retries,
            broken: cycles.flatMap(\.broken).sorted { $0.rawValue < $1.rawValue },
            reasons: cycles.map(\.failureReason).sorted { ($0?.rawValue ?? 9) < ($1?.rawValue ?? 9) }
        )
    }

    /// All orders of up to five events; some of more.
    static func orders(_ events: [TestEvent]) -> [[TestEvent]] {
        var random = SplitMix64(seed: 11)
        guard events.count <= 5 else {
            return [events, events.reversed()] + (0..<50).map { _ in events.shuffled(using: &random) }
        }
        return events.indices.reduce([[]]) { orders, index in
            orders.flatMap { order in
                (0...order.count).map { place in
                    var order = order
                    order.insert(events[index], at: place)
                    return order
                }
            }
        }
    }

    /// Every different result of the orders, in the service and as a file.
    static func results(_ events: [TestEvent]) throws -> (service: [Told], file: [Told]) {
        var service: [Told] = []
        var files: [Told] = []
        for order in orders(events) {
            var fold = LifecycleFold.keeping()
            var before = fold.totals.words
            for event in order {
                try fold.accept([event])
                guard order.count < 6 else { continue }
                let now = fold.totals.words
                #expect(!zip(before, now).contains { $0 > $1 }, "a counter has fallen")
                before = now
            }
            let result = told(&fold)
            if !service.contains(result) { service.append(result) }
            var other = file()
            try other.apply(order)
            let fileResult = told(&other)
            if !files.contains(fileResult) { files.append(fileResult) }
        }
        return (service, files)
    }

    /// The one result of all orders.
    static func result(_ events: [TestEvent]) throws -> Told {
        let results = try results(events)
        #expect(results.service.count == 1 && results.file == results.service, "\(results)")
        return try #require(results.service.first)
    }

    static func scheduled(_ second: Double, _ id: String?, due: Double? = nil) -> TestEvent {
        TestEvent(.prefetchScheduled, second, id: id, due: due)
    }

    // MARK: Permission

    @Test("a denial for one schedule does not accuse another one")
    func denialOfOneScheduleAccusesNoOther() throws {
        let told = try Self.result([
            TestEvent(.notificationDenied, 0, id: "a"), Self.scheduled(10, "b", due: 900),
            Self.scheduled(4_000, "c", due: 9_000),
        ])
        #expect(!told.broken.contains(.scheduledWhileDenied))
    }

    @Test("a denial of the installation accuses every scheduling after it until a grant, in every order")
    func denialHoldsUntilAGrant() throws {
        let denied = TestEvent(.notificationDenied, 0, id: nil)
        let granted = TestEvent(.permissionGranted, 5_000, id: nil)
        let late = Self.scheduled(4_999, "a", due: 9_000)
        #expect(try Self.result([denied, late]).broken.contains(.scheduledWhileDenied))
        #expect(try Self.result([denied, late, granted]).broken.contains(.scheduledWhileDenied))
        let after = Self.scheduled(5_000, "b", due: 9_000)
        #expect(try !Self.result([denied, granted, after]).broken.contains(.scheduledWhileDenied))
        let again = TestEvent(.notificationDenied, 6_000, id: nil)
        #expect(
            try Self.result([denied, granted, again, Self.scheduled(7_000, "c", due: 9_000)]).broken
                .contains(.scheduledWhileDenied)
        )
    }

    @Test("a grant ends a denial for the same schedule, and many tellings are remembered in bounded memory")
    func grantEndsADenialOfItsSchedule() throws {
        let denied = TestEvent(.notificationDenied, 0)
        let granted = TestEvent(.permissionGranted, 20, id: nil)
        #expect(try Self.result([denied, Self.scheduled(10, "a"), granted]).broken == [.scheduledWhileDenied])
        #expect(try Self.result([denied, Self.scheduled(30, "a"), granted]).broken == [])

        var permissions = ToldPermissions()
        permissions.record(isGranted: true, at: .after(0))
        for second in 1...500 { permissions.record(isGranted: false, at: .after(Double(second))) }
        permissions.record(isGranted: true, at: .after(600))
        #expect(permissions.words.count <= 16)
        #expect(permissions.denial(before: .after(1)) == nil)
        #expect(permissions.denial(before: .after(2)) == .after(1))
        #expect(permissions.denial(before: .after(600)) == nil)
        #expect(permissions.denial(before: .after(599)) != nil)
    }

    // MARK: What is held against the nearest before it

    @Test("an execution is held against the latest schedule hash before it, and one match excuses no mismatch")
    func scheduleHashIsHeldAgainstTheNearest() throws {
        let first = [
            Self.scheduled(0, "a").begins(60).schedule("01"), TestEvent(.prefetchExecuted, 60).schedule("01"),
            TestEvent(.prefetchSuccess, 61),
        ]
        #expect(try Self.result(first).broken == [])
        let second = [TestEvent(.prefetchExecuted, 160).schedule("02"), TestEvent(.prefetchSuccess, 161)]
        #expect(try Self.result(first + second).broken == [.scheduleHashMismatch])
        let anew = Self.scheduled(100, "a").begins(160).schedule("02")
        #expect(try Self.result(first + second + [anew]).broken == [])
    }

    @Test("used content is held against the latest content cached before it, and one match excuses no mismatch")
    func contentHashIsHeldAgainstTheNearest() throws {
        let cached = [TestEvent(.contentCached, 1).content("01"), TestEvent(.contentCached, 5).content("02")]
        let used = TestEvent(.prefetchUsedForNotification, 3).content("01")
        #expect(try !Self.result(cached + [used]).broken.contains(.contentHashMismatch))
        let again = TestEvent(.prefetchUsedForNotification, 7).content("01")
        #expect(try Self.result(cached + [used, again]).broken.contains(.contentHashMismatch))
    }

    @Test("the age of used content is held against the latest ttl before its use")
    func ageIsHeldAgainstTheLatestTTL() throws {
        let fetched = [
            Self.scheduled(0, "a").begins(60), TestEvent(.prefetchExecuted, 60),
            TestEvent(.prefetchSuccess, 62).ttl(300), TestEvent(.contentCached, 63).ttl(60),
        ]
        let used = TestEvent(.prefetchUsedForNotification, 180)
        #expect(try Self.result(fetched + [used]).broken == [.staleContentUsed])
        #expect(try Self.result(fetched + [used.aged(60)]).broken == [])
        #expect(try Self.result(fetched + [used.aged(61)]).broken == [.staleContentUsed])
        let longer = TestEvent(.contentCached, 100).ttl(86_400)
        #expect(try Self.result(fetched + [used, longer]).broken == [])
        let later = TestEvent(.contentCached, 200).ttl(86_400)
        #expect(try Self.result(fetched + [used, later]).broken == [.staleContentUsed])
    }

    @Test("a ttl is kept to the second up to three hours, and rounded up beyond", arguments: [0, 1, 60, 3_600, 12_287])
    func ttlIsKept(seconds: Int64) {
        #expect(CodedTTL(seconds).seconds == seconds)
        for days in [1, 7, 11, 90] as [Int64] { #expect(CodedTTL(days * 86_400).seconds == days * 86_400) }
        #expect(CodedTTL(12_289).seconds == 12_300)
        #expect(CodedTTL(.max / 2).seconds ?? 0 > 86_400)
    }

    @Test("an earliest begin is known to the second near its submission, and the same however far it is told")
    func earliestBeginIsTheSameHoweverFarItIsTold() {
        let (due, begin) = (Timestamp.after(90_000), Timestamp.after(89_700.25))
        let tellings = [-40_000, 0, 60_000.5, 89_000, 89_699.75].map { SubmittedBegin(begin, at: .after($0)) }
        #expect(Set(tellings.map(\.key)).count == 1)
        #expect(tellings[1].begin(at: .after(0), window: begin, due: due) == begin)
        #expect(tellings[0].begin(at: .after(-40_000), window: .after(80_000), due: due) == .after(89_700))
        #expect(SubmittedBegin(.after(60.2), at: .after(0.5)).lead(at: .after(0.5)) == 59)
        #expect(SubmittedBegin(.after(60.5), at: .after(0.5)).lead(at: .after(0.5)) == 60)
        #expect(SubmittedBegin(.after(-90_000), at: .after(0)).lead(at: .after(0)) ?? 0 < 0)
        #expect(SubmittedBegin(begin, at: .after(0)).lead(at: .after(0)) == nil)
    }

    // MARK: Submissions

    @Test("each earliest begin is one submission, however often and in whatever form it is told")
    func eachEarliestBeginIsASubmission() throws {
        let told = [
            Self.scheduled(0, "a", due: 90_000).begins(89_700), Self.scheduled(20, "a").begins(89_700),
            Self.scheduled(21, "a"),
        ]
        #expect(try Self.result(told).stages[0] == 1)
        #expect(try Self.result(told + [Self.scheduled(30, "a").begins(89_820)]).stages[0] == 2)
        let repeated = told + [TestEvent(.prefetchExecuted, 89_800), Self.scheduled(89_900, "a").begins(89_700)]
        #expect(try Self.result(repeated).stages[0] == 1)
    }

    // MARK: Two reasons

    @Test("a failure belongs to the attempt that its time says, whatever arrives first")
    func failureBelongsToItsAttempt() throws {
        let told = try Self.result([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 1).reason(.auth).retried(),
            TestEvent(.prefetchSuccess, 10), TestEvent(.prefetchExecuted, 70), TestEvent(.prefetchFailure, 73),
        ])
        #expect(told.stages == [0, 2, 1, 0, 0, 0, 1, 0])
        #expect(told.retries == 1)
        #expect(told.reasons == [.other])
    }

    @Test(
        "of two reasons of one attempt the counter and failureReason say the same: what arrived first, in a file the earlier",
        arguments: [
            [TestEvent(.prefetchFailure, 2).reason(.network), TestEvent(.prefetchExpired, 30)],
            [TestEvent(.prefetchFailure, 2).reason(.network), TestEvent(.prefetchFailure, 3).reason(.auth)],
            [
                TestEvent(.prefetchFailure, 2).reason(.auth),
                TestEvent(.prefetchCompleted, 3).unsuccessful().reason(.system),
            ],
            [
                TestEvent(.prefetchFailure, 2), TestEvent(.prefetchCompleted, 3),
                TestEvent(.prefetchFailure, 4).reason(.auth),
            ],
        ]
    )
    func counterAndFailureReasonSayTheSame(failures: [TestEvent]) throws {
        let events = [TestEvent(.prefetchExecuted, 0)] + failures
        for order in Self.orders(events) {
            var fold = LifecycleFold.keeping()
            var store = CheckpointStore()
            for event in order {
                try fold.accept([event])
                store.save(fold.takeChanges())
                fold = LifecycleFold.keeping()
                for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
                    try fold.restore(StatePage(key: key, value: value))
                }
            }
            let told = Self.told(&fold)
            let counted = FailureReason.allCases.filter { fold.totals.failure($0) > 0 }
            #expect(told.stages[3...6].reduce(0, +) == 1)
            #expect(told.reasons == counted)
            let first = order.first { $0.event.kind == .prefetchExpired || $0.event.reason != nil }
            let isWhole = failures.count == 2
            if isWhole { #expect(counted == [first?.event.reason ?? .system]) }
        }
        let files = try Self.results(events).file
        #expect(files.count == 1)
        #expect(files.first?.reasons == [failures.first { $0.event.reason != nil }?.event.reason ?? .auth])
    }

    @Test("two reasons of one attempt are two failures once an execution between them arrives")
    func reasonsOfTwoAttemptsAreTwoFailures() throws {
        let told = try Self.result([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 2).reason(.network),
            TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 62).reason(.auth),
        ])
        #expect(told.stages == [0, 2, 0, 1, 1, 0, 0, 0])
    }

    @Test("the stage of a failure and its reason are those of one attempt")
    func failureStageAndReasonAreOfOneAttempt() throws {
        let cycle = try #require(
            try LifecycleFold.judged([
                TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 2).reason(.network),
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 62).reason(.auth),
                TestEvent(.prefetchExecuted, 120), TestEvent(.prefetchSuccess, 121),
            ]).first
        )
        #expect(cycle.stages.failure == .after(2))
        #expect(cycle.failureReason == .network)
    }

    @Test("a retried failure and another line of it in the same second are one retry")
    func linesOfOneSecondAreOneRetry() throws {
        let told = try Self.results([
            Self.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0),
            TestEvent(.prefetchFailure, 2).reason(.auth).retried(),
            TestEvent(.prefetchFailure, 2).reason(.auth).timed(),
            TestEvent(.prefetchSuccess, 4),
        ])
        #expect(told.file == [Told(stages: [1, 1, 1, 0, 0, 0, 0, 0], retries: 1, broken: [], reasons: [nil])])
    }

    @Test("an unsuccessful completion behind a failure that is retried with success is a retry")
    func completionBehindARetriedFailureIsARetry() throws {
        let told = try Self.results([
            Self.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0),
            TestEvent(.prefetchFailure, 1).reason(.network).retried(),
            TestEvent(.prefetchCompleted, 2).unsuccessful().reason(.system), TestEvent(.prefetchSuccess, 8),
        ])
        #expect(told.file == [Told(stages: [1, 1, 1, 0, 0, 0, 0, 0], retries: 1, broken: [], reasons: [nil])])
    }

    @Test("a line behind a failure that is retried tells the same failure, whatever reason it names")
    func lineBehindARetriedFailureIsTheSame() throws {
        let retried = TestEvent(.prefetchFailure, 2).reason(.network).retried()
        let told = [
            Self.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0), retried,
            TestEvent(.prefetchFailure, 5).reason(.auth),
        ]
        #expect(try Self.results(told).file.map(\.reasons) == [[.network]])
        let success = Told(stages: [1, 1, 1, 0, 0, 0, 0, 0], retries: 1, broken: [], reasons: [nil])
        #expect(try Self.results(told + [TestEvent(.prefetchSuccess, 9)]).file == [success])
    }

    @Test("a use that only a summary asserts breaks no rule")
    func impliedUseBreaksNoRule() throws {
        let summary = TestEvent(.prefetchCycleComplete, 902).summing(fetched: false)
        #expect(try Self.result([summary]).broken == [])
    }

    @Test("a completion that names a reason tells of a failure, also without saying that it was unsuccessful")
    func completionWithAReasonIsAFailure() throws {
        let told = try Self.result([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchCompleted, 5).reason(.network),
        ])
        #expect(told.stages == [0, 1, 0, 1, 0, 0, 0, 0])
        #expect(told.reasons == [.network])
    }

    // MARK: Names of a cycle

    @Test("events that name a cycle by its time, its schedule and both count the same in every order")
    func halvesCountTheSameInEveryOrder() throws {
        let used = [
            TestEvent(.prefetchUsedForNotification, 900, id: nil, due: 900),
            TestEvent(.prefetchUsedForNotification, 901), TestEvent(.prefetchUsedForNotification, 902, due: 900),
        ].map { $0.of(1) }
        #expect(try Self.result(used).stages[7] == 1)
        #expect(try Self.result(Array(used.prefix(2))).stages[7] == 2, "nothing says that they are one")
        let snapshot = TestEvent(.telemetrySnapshot, 1_000, id: nil).of(1).reporting([.used: 1])
        for place in 0...3 {
            for order in Self.orders(used) {
                var told = order
                told.insert(snapshot, at: place)
                var fold = LifecycleFold.keeping()
                for event in told { try fold.accept([event]) }
                #expect(Self.told(&fold).stages[7] == 1)
            }
        }
        let attempt = [
            TestEvent(.prefetchExecuted, 60, id: nil, due: 900), TestEvent(.prefetchExecuted, 60),
            TestEvent(.prefetchFailure, 61).reason(.network),
            TestEvent(.prefetchFailure, 62, id: nil, due: 900).reason(.network),
            TestEvent(.notificationScheduled, 0, due: 900),
        ]
        #expect(try Self.result(attempt).stages == [0, 1, 0, 1, 0, 0, 0, 0])
    }

    @Test("a snapshot includes what happened until its time, whether it arrives before later events or after them")
    func snapshotIncludesWhatHappenedUntilItsTime() throws {
        let snapshot = TestEvent(.telemetrySnapshot, 100, id: nil).of(1).reporting([.executed: 3])
        for second in [50.0, 100, 100.000_001, 200] {
            let executed = TestEvent(.prefetchExecuted, second).of(1)
            let expected: UInt64 = second > 100 ? 4 : 3
            for order in Self.orders([snapshot, executed]) {
                var fold = LifecycleFold.keeping()
                for event in order { try fold.accept([event]) }
                #expect(Self.told(&fold).stages[1] == expected, "\(second)")
            }
        }
    }

    @Test("what a file takes back at its end never takes a counter below zero")
    func correctionNeverWraps() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 2_111, id: nil).of(1).reporting([.failureNetwork: 1]),
            TestEvent(.prefetchFailure, 19).of(1), TestEvent(.prefetchCompleted, 131).with { $0.fetched = true }.of(1),
            TestEvent(.prefetchFailure, 8).reason(.network).retried().of(1),
        ]
        for order in Self.orders(told) {
            var fold = Self.file()
            try fold.apply(order)
            let result = Self.told(&fold)
            #expect(result.stages == [0, 0, 1, 1, 0, 0, 0, 0])
            #expect(result.retries == 1)
        }
    }

    @Test("a snapshot that does not tell of a stage includes no event of it")
    func snapshotIncludesOnlyWhatItTells() throws {
        let told = [
            TestEvent(.telemetrySnapshot, 100, id: nil).of(1).reporting([.executed: 2]),
            TestEvent(.telemetrySnapshot, 300, id: nil).of(1).reporting([.used: 2]),
            TestEvent(.prefetchExecuted, 200).of(1),
        ]
        // A snapshot behind a later one is stale.
        for place in 0...2 {
            var order = Array(told.prefix(2))
            order.insert(told[2], at: place)
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            #expect(Self.told(&fold).stages[1] == 3)
        }
    }

    @Test("events of several passes under one id belong to the nearest pass in every order")
    func eventsBelongToTheNearestPass() throws {
        let day = 86_400.0
        let passes = [0.0, 1, 2].flatMap { number -> [TestEvent] in
            let due = number * day + 900
            return [
                Self.scheduled(due - 1_000, "a", due: due).begins(due - 300), TestEvent(.prefetchExecuted, due - 290),
                TestEvent(.prefetchSuccess, due - 280), TestEvent(.prefetchUsedForNotification, due + 1),
            ]
        }
        let told = try Self.result(passes)
        #expect(told.stages == [3, 3, 3, 0, 0, 0, 0, 3])
        #expect(told.broken == [])
        let repeated = passes + [TestEvent(.prefetchSuccess, 2 * day + 630, due: 2 * day + 900)]
        #expect(try Self.result(repeated).stages == [3, 3, 3, 0, 0, 0, 0, 3])
    }

    // MARK: Across cycles

    @Test("a second active task is found among many schedules that arrive out of order")
    func secondTaskIsFoundAmongMany() throws {
        let day = 86_400.0
        var events: [TestEvent] = []
        for number in 0..<8 {
            let (id, due) = ("day-\(number)", Double(number + 1) * day)
            events.append(Self.scheduled(due - day + 100, id, due: due))
            events.append(TestEvent(.prefetchExecuted, due - day + 200, id: id, due: due))
            events.append(TestEvent(.prefetchSuccess, due - day + 201, id: id, due: due))
        }
        #expect(try Self.result(events).broken == [])
        let second = [
            Self.scheduled(2 * day + 150, "other", due: 20 * day),
            TestEvent(.prefetchExecuted, 2 * day + 160, id: "other"),
        ]
        #expect(try Self.result(events + second).broken.filter { $0 == .secondActiveTask }.count == 1)
    }

    @Test("a task scheduled more than a day after an execution is not the next one")
    func nextTaskIsScheduledWithinADay() throws {
        let day = 86_400.0
        let cycle = [
            Self.scheduled(0, "a"), TestEvent(.prefetchExecuted, 60.5), TestEvent(.prefetchSuccess, 61),
            TestEvent(.pluginStarted, 5 * day, id: nil),
        ]
        #expect(try Self.result(cycle + [Self.scheduled(day + 60.9, "b")]).broken == [])
        #expect(try Self.result(cycle + [Self.scheduled(day + 61, "b")]).broken == [.nextNotScheduled])
    }

    // MARK: Bounds

    @Test("a thousand failures of one attempt with one reason are one failure, and evict no cycle")
    func thousandFailuresAreOne() throws {
        var random = SplitMix64(seed: 21)
        let failures = (0..<1_000).map { TestEvent(.prefetchFailure, 61 + Double($0)).reason(.network) }
        for order in [failures, failures.reversed(), failures.shuffled(using: &random)] {
            var fold = LifecycleFold.keeping()
            try fold.accept([TestEvent(.prefetchExecuted, 60)] + order)
            #expect(fold.totals.failureNetwork == 1)
            #expect(fold.totals.evictedCycles == 0)
            #expect(fold.checkpointBytes < 40_000)
            #expect(Self.told(&fold).stages == [0, 1, 0, 1, 0, 0, 0, 0])
        }
    }

    @Test("retries beyond the kept facts of a cycle stay counted, and a hash is not dropped from between two others")
    func droppedFactsStayCounted() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept([TestEvent(.prefetchExecuted, 60)])
        try fold.accept((0..<400).map { TestEvent(.prefetchFailure, 61 + Double($0)).reason(.network).retried() })
        #expect(fold.totals.retries == 255)
        #expect(fold.totals.evictedCycles == 0)
        try fold.accept([TestEvent(.prefetchSuccess, 600)])
        #expect(Self.told(&fold).stages == [0, 1, 1, 0, 0, 0, 0, 0])

        var limits = LifecycleLimits()
        limits.factsPerCycle = 12
        fold = LifecycleFold.keeping(limits: limits)
        let cached = [1, 2, 1].enumerated().map {
            TestEvent(.contentCached, Double($0.offset)).content("0\($0.element)")
        }
        let used = (3..<40).map { TestEvent(.prefetchUsedForNotification, Double($0)).content("01") }
        try fold.accept(cached + used)
        #expect(!Self.told(&fold).broken.contains(.contentHashMismatch))
    }
}

extension TestEvent {
    /// The same event with a duration, which makes it another telling of the same thing.
    fileprivate func timed() -> TestEvent { lasting(1) }
}
