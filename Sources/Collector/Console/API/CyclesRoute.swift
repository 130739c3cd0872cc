// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import LifecycleState
internal import LogValidation
internal import PrefetchLifecycle
internal import TelemetryEvents

/// `GET /api/v1/cycles`, `/api/v1/cycles/{number}` and `/api/v1/filters`: what the index has.
struct CyclesRoute: Sendable {
    let feed: ConsoleFeed
    let reader: LedgerReader
    let key: InstallationKey
    let identityKey: IdentityKey

    func list(_ request: Request) async throws -> Response {
        let query = try CycleQuery(request, key: key)
        guard let cycles = feed.snapshot?.cycles else { throw Problem.consoleStarting }
        let page = try await ConsoleThreads.run {
            try cycles.page(query.filter, before: query.before, limit: query.limit, reader)
        }
        var json = JSONWriter()
        json.object { json in
            json.name("cycles")
            json.array { json in for cycle in page.cycles { json.value(cycle) } }
            json.name("next")
            json.value(page.next.map { "\($0)" })
            json.name("newest")
            json.value(cycles.newest)
            json.name("indexed")
            json.value(UInt64(cycles.count))
            json.name("limit")
            json.value(UInt64(cycles.limit))
            json.name("scanned")
            json.value(UInt64(page.scanned))
        }
        return APIAnswer.json(json, to: request)
    }

    func cycle(_ text: String?, _ request: Request) async throws -> Response {
        guard let cycles = feed.snapshot?.cycles else { throw Problem.consoleStarting }
        guard let number = text.flatMap({ UInt64($0) }) else { throw Problem.noSuchCycle }
        let found = try await ConsoleThreads.run { () -> (IndexedCycle, CycleEvents)? in
            guard let cycle = try cycles.cycle(number, reader) else { return nil }
            return (cycle, try CycleEvents(of: cycle, reader, identityKey))
        }
        guard let (cycle, events) = found else { throw Problem.noSuchCycle }
        var json = JSONWriter()
        json.object { json in
            json.name("cycle")
            json.value(cycle)
            json.name("plan")
            json.object { json in
                json.name("earliestBegin")
                json.value(cycle.verdict.earliestBegin)
                json.name("due")
                json.value(cycle.verdict.notificationTime)
                json.name("startLimitSeconds")
                json.value(LifecycleLimitsShown.startSeconds)
                json.name("driftLimitSeconds")
                json.value(LifecycleLimitsShown.driftSeconds(on: cycle.group.platform))
            }
            json.name("events")
            json.array { json in for event in events.events { json.value(event) } }
            json.name("eventsComplete")
            json.value(events.isComplete)
        }
        return APIAnswer.json(json, to: request)
    }

    func filters(_ request: Request) throws -> Response {
        guard let cycles = feed.snapshot?.cycles else { throw Problem.consoleStarting }
        var json = JSONWriter()
        json.object { json in
            json.name("outcomes")
            json.array { json in for outcome in CycleOutcome.allCases { json.value("\(outcome.name)") } }
            json.name("violations")
            json.array { json in
                for kind in ViolationKind.allCases {
                    json.object { json in
                        json.name("violation")
                        json.value("\(kind.name)")
                        json.name("bucket")
                        json.value(kind.bucket.rawValue)
                        json.name("title")
                        json.value(kind.title)
                    }
                }
            }
            json.name("reasons")
            json.array { json in for reason in FailureReason.allCases { json.value("\(reason.name)") } }
            json.name("platforms")
            json.array { json in for platform in Set(cycles.groups.map(\.platform)).sorted() { json.value(platform) } }
            json.name("versions")
            json.array { json in for version in Set(cycles.groups.map(\.appVersion)).sorted() { json.value(version) } }
            json.name("stages")
            json.array { json in for stage in CycleFilter.Stage.allCases { json.value("\(stage)") } }
            json.name("kinds")
            json.array { json in for kind in EventKind.allCases { json.value("\(kind.name)") } }
            json.name("requirements")
            json.array { json in for requirement in Requirement.allCases { json.value(requirement.rawValue) } }
            json.name("scenarios")
            json.array { json in for scenario in GuideScenario.all { json.value(scenario.name) } }
        }
        return APIAnswer.json(json, to: request)
    }
}

/// The limits that a cycle is drawn against, as docs/lifecycle.md has them.
enum LifecycleLimitsShown {
    static let startSeconds: Int64 = 15 * 60

    /// iOS tolerates 180 s; Android's alarms are exact.
    static func driftSeconds(on platform: String) -> Int64 { platform == "android" ? 60 : 180 }
}

extension Problem {
    static let noSuchCycle = Problem(
        status: .notFound,
        type: "no-such-cycle",
        title: "No such cycle",
        detail: "Expected the number of a closed cycle that the index still has; it keeps the newest ones."
    )
}

/// The events of a cycle that the ledger still has.
struct CycleEvents: Sendable {
    private static let maximumEvents = 200
    /// Reading ends after so many bytes of batches.
    private static let maximumBytes = 64 << 20
    /// Before the first stage and after the closing, since clocks differ.
    private static let marginMicroseconds: Int64 = 60 * 60 * 1_000_000

    private(set) var events: [LoggedEvent] = []
    /// Whether the ledger still has everything that was received while the cycle was open.
    private(set) var isComplete = true

    init(of cycle: IndexedCycle, _ reader: LedgerReader, _ key: IdentityKey) throws(LedgerError) {
        let statistics = try reader.statistics()
        let stages = cycle.verdict.stages
        let times = [stages.scheduled, stages.executed, stages.success, stages.failure, stages.used, stages.delivered]
        let first = times.compactMap { $0?.microseconds }.min() ?? cycle.closedAt.microseconds
        let begin = first - Self.marginMicroseconds
        if statistics.pruned != .start {
            isComplete = statistics.oldestReceivedAt.map { $0 < begin } ?? false
        }
        var last = try Self.batch(before: begin, reader, statistics)
        var bytes = 0
        while bytes < Self.maximumBytes, events.count < Self.maximumEvents {
            let batches: [StoredBatch]
            do throws(LedgerError) {
                batches = try reader.read(afterBatch: last)
            } catch .damagedBatch(let id, _) {
                isComplete = false
                last = id
                continue
            }
            guard let end = batches.last else { return }
            for stored in batches {
                if stored.batch.receivedAt > cycle.closedAt.microseconds + Self.marginMicroseconds { return }
                bytes += stored.batch.events.count
                if stored.batch.origin != EventOrigin.tick.rawValue { take(stored, of: cycle, key) }
            }
            last = end.id
        }
        isComplete = false
    }

    /// The last batch that was received before a time, by bisection.
    private static func batch(
        before time: Int64,
        _ reader: LedgerReader,
        _ statistics: LedgerStatistics
    ) throws(LedgerError) -> Int64 {
        var low = statistics.pruned.batch
        var high = statistics.end.batch
        while low < high {
            let middle = low + (high - low) / 2
            let found = try? reader.read(afterBatch: middle, limit: ReadLimit(batches: 1, bytes: 1)).first
            guard let found else { return low }
            if found.batch.receivedAt < time { low = max(found.id, middle + 1) } else { high = middle }
        }
        return low
    }

    private mutating func take(_ stored: StoredBatch, of cycle: IndexedCycle, _ key: IdentityKey) {
        var cursor = EventCursor()
        var sequence = stored.firstSequence
        let records = stored.batch.events.span
        while let event = try? cursor.next(in: records), events.count < Self.maximumEvents {
            defer { sequence += 1 }
            guard event.kind.app == .dnp, belongs(event, records, to: cycle.verdict, key) else { continue }
            events.append(LoggedEvent(event, in: records, sequence: sequence, receivedAt: stored.batch.receivedAt))
        }
    }

    private func belongs(_ event: Event, _ records: Span<UInt8>, to cycle: ClosedCycle, _ key: IdentityKey) -> Bool {
        // First what is cheap: the hash of a schedule takes longer than to decode its event.
        guard event.installation?.fingerprint ?? 0 == cycle.installation else { return false }
        if let schedule = cycle.schedule, key.schedule(of: event, in: records) == schedule {
            return event.scheduledFor == nil || cycle.notificationTime == nil
                || event.scheduledFor == cycle.notificationTime
        }
        return cycle.installation != 0 && event.scheduleId.isEmpty && event.scheduledFor != nil
            && event.scheduledFor == cycle.notificationTime
    }
}

/// An event of the ledger, as the console shows it.
struct LoggedEvent: Sendable {
    let sequence: UInt64
    let receivedAt: Timestamp
    /// Canonical JSON.
    let json: [UInt8]

    init(_ event: Event, in records: Span<UInt8>, sequence: UInt64, receivedAt: Int64) {
        self.sequence = sequence
        self.receivedAt = Timestamp(microseconds: receivedAt)
        var json: [UInt8] = []
        CanonicalJSON.append(event, in: records, to: &json)
        self.json = json
    }
}

extension JSONWriter {
    mutating func value(_ event: LoggedEvent) {
        object { json in
            json.name("sequence")
            json.value(event.sequence)
            json.name("receivedAt")
            json.value(event.receivedAt)
            json.name("event")
            json.value(encoded: event.json)
        }
    }

    mutating func value(_ cycle: IndexedCycle) {
        let verdict = cycle.verdict
        object { json in
            json.name("number")
            json.value(cycle.number)
            json.name("closedAt")
            json.value(cycle.closedAt)
            json.name("due")
            json.value(verdict.notificationTime)
            json.name("schedule")
            let id = cycle.name?.scheduleId ?? []
            json.value(id.isEmpty ? nil : String(decoding: id, as: UTF8.self))
            json.name("cycle")
            json.value(verdict.schedule.map { String(decoding: [UInt8](hexadecimal: $0), as: UTF8.self) })
            json.name("installation")
            json.value(cycle.name?.installation?.hexadecimal)
            json.name("device")
            let device = verdict.installation
            json.value(device == 0 ? nil : String(decoding: [UInt8](hexadecimal: device), as: UTF8.self))
            json.name("platform")
            json.value(cycle.group.platform)
            json.name("version")
            json.value(cycle.group.appVersion)
            json.name("outcome")
            json.value("\(verdict.outcome.name)")
            json.name("reason")
            json.value(verdict.failureReason.map { "\($0.name)" })
            json.name("attempts")
            json.value(UInt64(verdict.attempts))
            json.name("timeWarped")
            json.value(verdict.isTimeWarped)
            json.name("timesAssumed")
            json.value(verdict.hasAssumedTimes)
            json.name("stages")
            json.object { json in
                for (name, time) in verdict.stages.named {
                    json.name(name)
                    json.value(time)
                }
            }
            json.name("violations")
            json.array { json in for violation in verdict.violations { json.value(violation) } }
        }
    }

    private mutating func value(_ violation: CycleViolation) {
        object { json in
            json.name("violation")
            json.value("\(violation.kind.name)")
            json.name("bucket")
            json.value(violation.kind.bucket.rawValue)
            json.name("title")
            json.value(violation.kind.title)
            json.name("detail")
            json.value(violation.detail)
            json.name("advice")
            json.value(Advice.of(violation.kind).joined(separator: " "))
        }
    }
}

extension CycleStages {
    fileprivate var named: [(String, Timestamp?)] {
        [
            ("scheduled", scheduled), ("executed", executed), ("success", success), ("failure", failure),
            ("used", used), ("delivered", delivered),
        ]
    }
}

extension ViolationKind {
    /// The name in words.
    fileprivate var title: String { "\(name)".split(separator: "_").joined(separator: " ") }
}
