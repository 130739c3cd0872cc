// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import RefreshLifecycle

/// A run as it happened, from which its events and its verdict follow without the fold.
struct TrueRun {
    var start: Double
    var hasLines: Bool
    var end: (after: Double, outcome: RunOutcome)?
    var took: Double?
    var skip: RefreshSkipReason?
    var worksAfterSkip = false
    var days: Int64?
    var isAvailable = false
    var notification: RefreshNotification?
    /// What a skip tells of the last notification.
    var daysAgo: Int64 = 200
    var isScheduled = true

    init(at start: Double, hasLines: Bool, _ random: inout SplitMix64) {
        self.start = start
        self.hasLines = hasLines
        isScheduled = hasLines && Int.random(in: 0..<5, using: &random) > 0
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where hasLines: break
        case 1 where hasLines:
            skip = [.notAuthenticated, .noNetwork, .tooRecent].randomElement(using: &random)
            end = (0.3, .skipped)
            worksAfterSkip = Int.random(in: 0..<4, using: &random) == 0
            return
        case 2: end = (Bool.random(using: &random) ? 30 : 35.5, .expired)
        case 3: end = (4, .failed)
        default:
            let lengths: [Double] = [2, 19.5, 20.5, 30.5]
            let length = lengths.randomElement(using: &random) ?? 2
            end = (length + 0.2, .completed)
            took = length
        }
        if hasLines {
            days = [0, 30, 89, 90, 100].randomElement(using: &random)
            isAvailable = ((days ?? 0) >= 90) != (Int.random(in: 0..<8, using: &random) == 0)
        }
        if Bool.random(using: &random) {
            notification =
                (hasLines ? RefreshNotification.allCases : [.sent, .failed]).randomElement(using: &random)
            daysAgo = [0, 10, 88, 89, 200].randomElement(using: &random) ?? 200
        }
    }

    /// Its events; some of lines are told by analytics events too.
    func events(_ random: inout SplitMix64) -> [Told] {
        var told: [Told] = hasLines ? [.started(start)] : []
        var analytics: [Told] = []
        func addTwice(_ event: Told) {
            told.append(event)
            if hasLines, Bool.random(using: &random) {
                var again = event.analytics().after(Double.random(in: 0.001...0.9, using: &random))
                if again.kind == .refreshCompleted { again.number = again.number.map { $0 - $0 % 100_000 } }
                analytics.append(again)
            }
        }
        if let skip { told.append(.skipped(start + 0.3, skip)) }
        if worksAfterSkip { told.append(.checked(start + 0.6, 30)) }
        if let days { told.append(.checked(start + 1, days, isAvailable)) }
        switch notification {
        case .sent?: addTwice(.sent(start + 1.2))
        case .failed?: addTwice(.notificationFailed(start + 1.2))
        case .notAuthorized?: told.append(.notAuthorized(start + 1.2))
        case .alreadyNotified?: told.append(.alreadyNotified(start + 1.2, daysAgo))
        case nil: break
        }
        switch end?.outcome {
        case .expired?: addTwice(.expired(start + (end?.after ?? 0)))
        case .failed?: addTwice(.completed(start + (end?.after ?? 0), false, took: nil))
        case .completed?: addTwice(.completed(start + (end?.after ?? 0), true, took: took))
        default: break
        }
        if isScheduled { told.append(.scheduled(start + (end?.after ?? 3) + 1.5)) }
        return (hasLines ? told : told.analytics()) + analytics
    }
}

/// The verdicts on runs that follow from what happened.
struct TrueHistory {
    var runs: [TrueRun] = []
    var events: [Told] = []

    init(seed: UInt64, runs count: Int) {
        var random = SplitMix64(seed: seed)
        let hasLines = Int.random(in: 0..<4, using: &random) > 0
        var time = 0.0
        for _ in 0..<count {
            let run = TrueRun(at: time, hasLines: hasLines, &random)
            runs.append(run)
            events += run.events(&random)
            time += [50, 700, 3.9 * hours, 4 * hours + 40, 4.5 * hours, 91 * days].randomElement(using: &random) ?? 50
        }
    }

    func count(_ outcome: RunOutcome) -> UInt64 {
        UInt64(runs.filter { ($0.end?.outcome ?? .incomplete) == outcome }.count)
    }

    /// - Parameter known: the time up to which the installation is known.
    func count(_ kind: RefreshViolationKind, known: Double) -> UInt64 {
        UInt64(runs.indices.filter { breaks(kind, $0, known) }.count)
    }

    private func breaks(_ kind: RefreshViolationKind, _ index: Int, _ known: Double) -> Bool {
        let run = runs[index]
        let before = runs[..<index]
        let end = run.end.map { run.start + $0.after }
        let length = run.took ?? (run.hasLines ? run.end?.after : nil)
        switch kind {
        case .refreshedTooSoon:
            guard run.skip == nil, let last = before.last(where: { $0.end?.outcome == .completed }) else {
                return false
            }
            let limit = last.start + (last.end?.after ?? 0) + 4 * hours
            if run.days != nil, run.start + 1 < limit - 1e-6 { return true }
            guard let end, run.end?.outcome == .completed || run.end?.outcome == .failed else { return false }
            return end < limit - 1e-6
        case .notifiedTooSoon: return run.notification == .sent && run.days.map { $0 < 90 } ?? false
        case .notifiedAgain:
            guard run.notification == .sent else { return false }
            return before.contains { other in
                if other.notification == .alreadyNotified {
                    // It may have been sent a day earlier than the days say.
                    return run.start + 1.2 - (other.start - Double(other.daysAgo + 1) * days) < 90 * days - 1e-6
                }
                return other.notification == .sent && run.start - other.start < 90 * days - 1e-6
            }
        case .availabilityWrong: return run.days.map { ($0 >= 90) != run.isAvailable } ?? false
        case .workedAfterSkip: return run.worksAfterSkip
        case .notNotified:
            guard run.days != nil, run.isAvailable, run.end?.outcome == .completed, run.notification == nil else {
                return false
            }
            let told = before.last { $0.notification == .notAuthorized || $0.notification == .sent }
            if told?.notification == .notAuthorized { return false }
            return !before.contains { other in
                if other.notification == .alreadyNotified {
                    return run.start - (other.start - Double(other.daysAgo) * days) < 90 * days - 1e-6
                }
                return other.notification == .sent && run.start - (other.start + 1.2) < 90 * days - 1e-6
            }
        case .runNotEnded: return run.hasLines && (run.end.map { $0.after > 35 } ?? true)
        case .nextNotScheduled:
            guard run.hasLines, let end, !run.isScheduled else { return false }
            return index + 1 < runs.count || known > end + 4 * hours + 15 * minutes
        case .ranTooLong: return run.end != nil && run.skip == nil && (length ?? 0) > 20
        case .expired: return run.end?.outcome == .expired || run.end != nil && run.skip == nil && (length ?? 0) > 30
        }
    }
}

@Suite("Histories of the background refresh")
struct RefreshHistoryTests {
    @Test("random histories are counted and judged as what happened says", arguments: 0..<300)
    func historiesAgreeWithTheModel(seed: Int) throws {
        let history = TrueHistory(seed: UInt64(seed), runs: 12)
        var fold = RefreshFold.keeping()
        try fold.apply(history.events)
        fold.finish()
        let known = history.events.map(\.seconds).max() ?? 0
        check(fold.totals, history, known: known)
    }

    @Test("shuffled, doubled and in batches, a history gives the same once all runs are closed", arguments: 0..<200)
    func orderDoesNotMatter(seed: Int) throws {
        let history = TrueHistory(seed: UInt64(seed) + 1_000, runs: 12)
        var random = SplitMix64(seed: UInt64(seed))
        let latest = (history.events.map(\.seconds).max() ?? 0) + 60
        var expected: RefreshTotals?
        for order in 0..<5 {
            var events = history.events
            switch order {
            case 0: break
            case 1: events.reverse()
            case 2: events += events
            default: events.shuffle(using: &random)
            }
            var fold = RefreshFold.keeping()
            var rest = events[...]
            while !rest.isEmpty {
                let size = order == 1 ? 1 : Int.random(in: 1...9, using: &random)
                try fold.apply(Array(rest.prefix(size)), at: latest)
                rest = rest.dropFirst(size)
            }
            fold.closeAll(from: latest + 3)
            #expect(fold.openRuns == 0)
            if let expected { #expect(fold.totals == expected, "order \(order)") }
            expected = fold.totals
            check(fold.totals, history, known: latest + 100 * hours)
        }
    }

    @Test(
        "live, with ticks and checkpoints between the events, a history gives what it gives at once",
        arguments: 0..<60
    )
    func liveHistory(seed: Int) throws {
        let history = TrueHistory(seed: UInt64(seed) + 2_000, runs: 10)
        var random = SplitMix64(seed: UInt64(seed))
        var fold = RefreshFold.keeping()
        var store = RefreshStore()
        for told in history.events.sorted(by: { $0.seconds < $1.seconds }) {
            try fold.apply([told], at: told.seconds + 0.2)
            if Int.random(in: 0..<6, using: &random) == 0 {
                store.save(fold.takeChanges())
                fold = try store.restore()
            }
            var tick = told.seconds + 2
            while tick < told.seconds + 20 * minutes, fold.hasTick(at: tick), told.seconds >= 0 {
                // Only ticks before the next event would have happened.
                guard !history.events.contains(where: { $0.seconds > told.seconds && $0.seconds + 0.2 < tick }) else {
                    break
                }
                fold.tick(at: tick)
                tick += minutes
            }
        }
        fold.closeAll(from: (history.events.map(\.seconds).max() ?? 0) + 60)
        check(fold.totals, history, known: .infinity)
    }

    @Test("events without sense give the same in every order too", arguments: 0..<400)
    func senselessEvents(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed) + 5_000)
        let steps: [Double] = [0.2, 0.5, 1, 7]
        let step = steps.randomElement(using: &random) ?? 1
        let events: [Told] = (0..<Int.random(in: 2...24, using: &random)).map { _ in
            let time = Double(Int.random(in: 0..<40, using: &random)) * step
            let told: Told
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1: told = .started(time)
            case 2: told = .checked(time, Bool.random(using: &random) ? 30 : 100)
            case 3: told = .completed(time, Bool.random(using: &random) ? true : nil)
            case 4: told = .completed(time, false, took: 21)
            case 5: told = .expired(time)
            case 6: told = .skipped(time, Bool.random(using: &random) ? .noNetwork : .tooRecent)
            case 7: told = .scheduled(time)
            case 8: told = .scheduleFailed(time)
            case 9: told = .sent(time)
            case 10: told = .notificationFailed(time)
            default: told = Bool.random(using: &random) ? .notAuthorized(time) : .alreadyNotified(time, 3)
            }
            return Bool.random(using: &random) ? told.analytics() : told
        }
        let expected = try RefreshFold.total(events.sorted { $0.seconds < $1.seconds })
        var closed: RefreshTotals?
        for _ in 0..<8 {
            let shuffled = (events + events.prefix(5)).shuffled(using: &random)
            #expect(try RefreshFold.total(shuffled) == expected)
            var file = RefreshFold(isReceiver: false)
            for told in shuffled { try file.apply([told]) }
            file.finish()
            #expect(file.totals == expected)
            var live = RefreshFold.keeping()
            for told in shuffled { try live.apply([told], at: 300) }
            live.closeAll(from: 302)
            #expect(live.openRuns == 0)
            if let closed { #expect(live.totals == closed) }
            closed = live.totals
        }
    }

    private func check(_ totals: RefreshTotals, _ history: TrueHistory, known: Double) {
        for outcome in RunOutcome.allCases {
            #expect(totals.runs(outcome) == history.count(outcome), "\(outcome)")
        }
        for kind in RefreshViolationKind.allCases {
            #expect(totals.violations(kind) == history.count(kind, known: known), "\(kind)")
        }
        for result in RefreshNotification.allCases {
            #expect(
                totals.notifications(result) == UInt64(history.runs.filter { $0.notification == result }.count),
                "\(result)"
            )
        }
        for reason in RefreshSkipReason.allCases where reason.kind == .refreshSkipped {
            #expect(totals.skipped(reason) == UInt64(history.runs.filter { $0.skip == reason }.count), "\(reason)")
        }
        #expect(totals.schedules(.scheduled) == UInt64(history.runs.filter(\.isScheduled).count))
        #expect(totals.duration.count == UInt64(history.runs.filter { $0.took != nil }.count))
        let checks = history.runs.filter { $0.days != nil }.count + history.runs.filter(\.worksAfterSkip).count
        #expect(totals.checks(isAvailable: true) + totals.checks(isAvailable: false) == UInt64(checks))
    }
}
