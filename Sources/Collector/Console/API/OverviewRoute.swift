// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import LifecycleState
internal import PrefetchLifecycle
internal import RefreshLifecycle
internal import TelemetryEvents
internal import TextOutput

/// `GET /api/v1/overview`: the numbers of the last hour, of the last day and since the ledger began.
struct OverviewRoute: Sendable {
    let feed: ConsoleFeed
    let status: ServiceStatus
    let clock: LedgerClock

    func respond(to request: Request) throws -> Response {
        guard let snapshot = feed.snapshot else { throw Problem.consoleStarting }
        let now = clock.now()
        var json = JSONWriter()
        var tag: [UInt8] = []
        json.object { json in
            write(snapshot, now: now, to: &json)
            // The answer is another one only where something besides the time has changed.
            tag = json.bytes
            json.name("now")
            json.value(Timestamp(microseconds: now))
        }
        return APIAnswer.json(json, to: request, tag: tag)
    }

    private func write(_ snapshot: ConsoleFeed.Snapshot, now: Int64, to json: inout JSONWriter) {
        let recent = snapshot.recent
        let minute = now / 60_000_000
        json.name("version")
        json.value(BuildVersion.current)
        json.name("apps")
        json.array { json in for app in App.allCases where status.apps.contains(app) { json.value("\(app.name)") } }
        json.name("since")
        json.value(Timestamp(microseconds: recent.since))
        json.name("status")
        json.object { json in write(status: snapshot, lastMinute: recent.minutes[minute - 1], to: &json) }
        let hour = Window(recent.minutes, ending: minute, slots: 60, since: recent.since)
        let day = Window(recent.quarters, ending: minute / 15, slots: 96, since: recent.since)
        json.name("total")
        json.object { json in json.window(snapshot.counts, from: nil, isComplete: true) }
        json.name("day")
        json.object { json in json.window(day.sum, from: day.from, isComplete: day.isComplete) }
        json.name("hour")
        json.object { json in json.window(hour.sum, from: hour.from, isComplete: hour.isComplete) }
        json.name("minutes")
        json.object { json in hour.writeSeries(to: &json) }
        json.name("quarters")
        json.object { json in day.writeSeries(to: &json) }
        json.name("startDelay")
        json.object { json in
            json.histogram(.startDelay, limit: LifecycleLimitsShown.startSeconds, day.sum) { .startDelay($0) }
        }
        json.name("drift")
        json.object { json in
            json.histogram(.drift, limit: LifecycleLimitsShown.driftSeconds(on: "ios"), day.sum) { .drift($0) }
        }
        json.name("refresh")
        guard status.apps.contains(.aiq) else { return json.value(nil as String?) }
        json.object { json in
            json.name("total")
            json.object { json in json.refreshWindow(snapshot.counts, from: nil, isComplete: true) }
            json.name("day")
            json.object { json in json.refreshWindow(day.sum, from: day.from, isComplete: day.isComplete) }
        }
    }

    private func write(status snapshot: ConsoleFeed.Snapshot, lastMinute: ConsoleCounts, to json: inout JSONWriter) {
        let balances = AccountBalance.all(snapshot.accounts, snapshot.counts)
        json.name("accounts")
        json.value(balances.allSatisfy(\.isBalanced) ? "balanced" : "unbalanced")
        json.name("ready")
        json.value(status.readiness.isReady)
        json.name("journal")
        json.object { json in status.writeJournal(accepted: snapshot.position.sequence, to: &json) }
        json.name("openCycles")
        json.value(UInt64(snapshot.openCycles))
        json.name("closedCycles")
        json.value(CycleOutcome.allCases.reduce(0) { $0 &+ snapshot.counts[.outcome($1)] })
        json.name("indexedCycles")
        json.value(UInt64(snapshot.cycles.count))
        json.name("indexLimit")
        json.value(UInt64(snapshot.cycles.limit))
        json.name("eventsLastMinute")
        json.value(lastMinute[.received])
    }
}

/// The last slots of time up to now.
private struct Window {
    let slots: RecentCounts.Slots
    let numbers: ClosedRange<Int64>
    let sum: ConsoleCounts
    /// Where the numbers begin, in microseconds since 1970.
    let from: Int64
    /// Whether everything in it is counted.
    let isComplete: Bool
    private let firstKnown: Int64

    /// - Parameters:
    ///   - number: the current slot.
    ///   - count: how many slots the window has, the current one included.
    ///   - since: from when on everything is counted, in microseconds since 1970.
    init(_ slots: RecentCounts.Slots, ending number: Int64, slots count: Int64, since: Int64) {
        self.slots = slots
        numbers = max(number - count + 1, 0)...max(number, 0)
        let length = slots.minutes * 60_000_000
        let begin = numbers.lowerBound * length
        isComplete = since <= begin
        from = max(begin, since)
        firstKnown = (since + length - 1) / length
        sum = numbers.reduce(into: ConsoleCounts()) { $0.add(slots[$1]) }
    }

    /// The series of the stages; null in slots before anything was counted.
    func writeSeries(to json: inout JSONWriter) {
        json.name("start")
        json.value(Timestamp(microseconds: numbers.lowerBound * slots.minutes * 60_000_000))
        json.name("stepSeconds")
        json.value(slots.minutes * 60)
        json.name("complete")
        json.value(isComplete)
        let series: [(String, [ConsoleCounts.Field])] = [
            ("scheduled", [.scheduled]), ("executed", [.executed]), ("success", [.success]),
            ("failure", FailureReason.allCases.map { .failure($0) }), ("used", [.used]),
        ]
        let counts = numbers.map { slots[$0] }
        for (name, fields) in series {
            json.name(name)
            json.array { json in
                for (number, count) in zip(numbers, counts) {
                    let value = fields.reduce(0) { $0 &+ count[$1] }
                    // A slot in which counting began is known where something was counted.
                    json.value(number >= firstKnown || value > 0 ? Int64(clamping: value) : nil)
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func window(_ counts: ConsoleCounts, from: Int64?, isComplete: Bool) {
        begin(from: from, isComplete: isComplete)
        for (name, field) in [
            ("scheduled", ConsoleCounts.Field.scheduled), ("executed", .executed),
            ("success", .success), ("used", .used),
        ] { member(name, counts[field]) }
        members("failures", FailureReason.allCases) { ("\($0.name)", counts[.failure($0)]) }
        members("outcomes", CycleOutcome.allCases) { ("\($0.name)", counts[.outcome($0)]) }
        members("fallbackCauses", FallbackCause.allCases) { ("\($0.name)", counts[.fallback($0)]) }
        members("violations", ViolationBucket.allCases) { ($0.rawValue, counts[.violations($0)]) }
        member("received", counts[.received])
        member("accepted", counts[.accepted])
        member("duplicates", counts[.duplicates])
        member("rejected", counts[.rejected])
    }

    fileprivate mutating func refreshWindow(_ counts: ConsoleCounts, from: Int64?, isComplete: Bool) {
        begin(from: from, isComplete: isComplete)
        members("runs", RunOutcome.allCases) { ("\($0.name)", counts[.runs($0)]) }
        member("skipped", counts[.skippedRuns])
        member("notificationsSent", counts[.notificationsSent])
        member("violations", counts[.runViolations])
    }

    private mutating func begin(from: Int64?, isComplete: Bool) {
        name("complete")
        value(isComplete)
        name("from")
        value(from.map { Timestamp(microseconds: $0) })
    }

    private mutating func member(_ name: String, _ count: UInt64) {
        self.name(name)
        value(count)
    }

    private mutating func members<Case>(_ name: String, _ cases: [Case], _ member: (Case) -> (String, UInt64)) {
        self.name(name)
        object { json in
            for value in cases {
                let (name, count) = member(value)
                json.member(name, count)
            }
        }
    }

    fileprivate mutating func histogram(
        _ measure: TimeHistogram.Measure,
        limit: Int64,
        _ counts: ConsoleCounts,
        _ field: (Int) -> ConsoleCounts.Field
    ) {
        name("window")
        value("day")
        name("limitSeconds")
        value(limit)
        name("bounds")
        array { json in for bound in measure.bounds { json.value(Int64(bound)) } }
        name("counts")
        array { json in for bucket in 0...measure.bounds.count { json.value(counts[field(bucket)]) } }
    }
}
