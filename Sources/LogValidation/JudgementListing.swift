// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import RefreshLifecycle
internal import TelemetryEvents

/// Lists the cycles and runs of inputs and counts what else they hold, on the calling thread of a run.
struct JudgementListing {
    /// More cycles than one piece of an input can hold.
    private static let cyclesOfAPiece = 32_768

    private let detail: JudgementOptions.Detail
    private let planned: PlannedSchedules?
    private let isExcerpt: Bool
    private let key: IdentityKey
    /// The time zone of stamps that name none.
    private let zone: ZoneOffsets
    private let listedCycles: Int
    /// Whether failed submissions are those of a simulator, where the options say it.
    private let isSimulator: Bool?
    private var refresh: RefreshFold
    /// Where the runs of each installation come from, and under which conditions they ran.
    private var sourcesOfRuns: [UInt64: RunSource] = [:]
    private let observer: (@Sendable (StageNotice) -> Void)?
    private var notes: CycleNotes
    private var judgement = Judgement()
    /// The installations that cycles name, until there are two.
    private var installations: Set<UInt64?> = []
    /// The inputs in the order in which they were read.
    private var inputs: [(index: Int, input: JudgedInput)] = []
    /// The devices that no event and no line names: the files', and that of a single input.
    private var unnamed: Set<UInt64> = [0]
    /// What no cycle meets so far.
    private var unmet = Requirement.allCases
    /// What speaks against an input being of one device.
    private var doubts: [Int: DeviceDoubts] = [:]
    /// The same of the current device so far.
    private var deviceDoubts: DeviceDoubts = []

    /// - Parameters:
    ///   - openCycles: the maximum number of open cycles of the fold.
    ///   - listedCycles: the maximum number of listed cycles.
    ///   - observer: is told each stage as it is read.
    init(
        _ options: JudgementOptions,
        _ pseudonyms: EphemeralPseudonyms,
        openCycles: Int,
        listedCycles: Int = JudgementOptions.listedCycles,
        observer: (@Sendable (StageNotice) -> Void)? = nil
    ) {
        self.listedCycles = listedCycles
        if case .testRun(let scheduleId?) = options.detail {
            detail = .testRun(scheduleId: pseudonyms.shaped(identifier: scheduleId))
        } else {
            detail = options.detail
        }
        var planned = options.planned
        for index in (planned?.entries ?? []).indices {
            let id = planned?.entries[index].scheduleId
            planned?.entries[index].scheduleId = id.map(pseudonyms.shaped(identifier:))
        }
        self.planned = planned
        isExcerpt = options.isExcerpt
        self.observer = observer
        key = pseudonyms.identityKey
        zone = options.lines.zone
        isSimulator = options.isSimulator
        refresh = RefreshFold(keepsClosedRuns: detail.needsCycles, isReceiver: false)
        judgement.apps = options.apps
        // The notes of the cycles that a piece closes are still kept while its own events are noted.
        notes = CycleNotes(limit: openCycles + Self.cyclesOfAPiece, hasDetails: detail.isTestRun, observer: observer)
    }

    /// Whether the judgement names the file of each cycle.
    var namesFiles: Bool {
        get { judgement.namesFiles }
        set { judgement.namesFiles = newValue }
    }

    mutating func add(_ piece: FoldedPiece, input: Int, readAt: Timestamp) {
        switch piece {
        case .piece(.device(let source), _):
            if let source { unnamed.insert(source.fingerprint) }
            deviceDoubts = []
            notes.beginDevice()
        case .piece(.installation(let installation), _): unnamed.insert(installation.fingerprint)
        case .piece(.events(let decoded), let folded): add(decoded, folded, input: input, receivedAt: readAt)
        case .piece(.end(let judged), _): inputs.append((input, judged))
        case .end(var folds):
            var closed = folds.indices.flatMap { folds[$0].takeClosedCycles() }
            let room = max(0, listedCycles - judgement.cycles.count)
            // Which fold a cycle is in changes with the keys of each run; which ones are listed must not.
            if closed.count > room { closed = closed.inOrder }
            judgement.cycles.reserveCapacity(judgement.cycles.count + min(closed.count, room))
            take(closed)
            let sums = LifecycleSums(of: folds)
            judgement.totals = sums.totals
            judgement.groups = sums.groups
            judgement.pending = sums.pending
        }
    }

    private mutating func add(
        _ decoded: DecodedEvents,
        _ folded: FoldedEvents,
        input: Int,
        receivedAt: Timestamp
    ) {
        let events = decoded.events
        let new = decoded.doubts.subtracting(deviceDoubts)
        if !new.isEmpty {
            deviceDoubts.formUnion(new)
            doubts[input, default: []].formUnion(new)
        }
        judgement.events += UInt64(events.count)
        judgement.rejectedEvents += UInt64(decoded.rejected)
        let room = JudgementOptions.listedRejections - judgement.rejected.count
        judgement.rejected += decoded.rejections.prefix(room).map {
            RejectedEvent(input: input, index: $0.index, reason: $0.description)
        }
        guard judgement.apps.contains(.dnp) else { return addRefresh(events, input: input, receivedAt) }
        if detail.needsCycles { note(decoded, schedules: folded.schedules, input: input) }
        if folded.hasOtherEvents, judgement.apps.contains(.aiq) { addRefresh(events, input: input, receivedAt) }
        take(folded.closed)
    }

    /// Notes of each event what the fold does not keep.
    private mutating func note(_ decoded: DecodedEvents, schedules: [UInt64], input: Int) {
        notes.begin(input: input)
        let bytes = decoded.events.bytes.span
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        // An event that cannot be read was not folded either.
        for index in schedules.indices {
            guard (try? cursor.next(into: &event, in: bytes)) ?? false else { return }
            if let isSimulator, event.kind == .prefetchScheduleFailed {
                event.isSimulator = event.isSimulator ?? isSimulator
            }
            let place = index < decoded.places.count ? decoded.places[index] : nil
            notes.note(event, schedule: schedules[index] == 0 ? nil : schedules[index], bytes, place)
        }
    }

    private mutating func addRefresh(_ events: EventBatch, input: Int, _ receivedAt: Timestamp) {
        let records = events.bytes.span
        var cursor = EventCursor()
        var event = Event(kind: .refreshStarted, timestamp: receivedAt)
        while (try? cursor.next(into: &event, in: records)) ?? false {
            guard event.kind.app == .aiq else { continue }
            judgement.refresh.events += 1
            judgement.refresh.kinds.insert(EventKinds(event.kind))
            if let observer, let notice = StageNotice(event, scheduleId: nil) { observer(notice) }
            guard detail.needsCycles else { continue }
            let installation = event.installation?.fingerprint ?? 0
            sourcesOfRuns[installation, default: RunSource(input: input)].add(event, records, detail)
        }
        try? refresh.apply(records, receivedAt: receivedAt)
    }

    consuming func finish() -> Judgement {
        refresh.finish()
        takeRuns()
        judgement.inputs = inputs.sorted { $0.index < $1.index }.map(\.input)
        for (index, found) in doubts where judgement.inputs.indices.contains(index) {
            judgement.inputs[index].doubts = found
        }
        if detail.isTestRun { dropUnrecorded() }
        judgement.logs = notes.logs
        if notes.logs.contains(where: { $0.kinds.contains(.prefetchRegistered) }) {
            judgement.reached.insert(.registered)
        }
        judgement.device = notes.device
        judgement.conditions = notes.conditions
        judgement.namesInstallations = installations.count > 1
        addUntoldBreaches()
        for (installation, plan) in notes.plans.sorted(by: { $0.key < $1.key }) {
            judgement.hold(against: plan.schedules, of: installation)
        }
        if let planned { judgement.hold(against: planned) }
        judgement.sortCycles()
        return judgement
    }

    /// Adds what events beside the cycles broke and no cycle tells to the latest cycle of the installation; where there is
    /// none, as a cycle of which nothing was seen.
    private mutating func addUntoldBreaches() {
        // It may be told by one of those that are not listed.
        guard judgement.omittedCycles == 0 else { return }
        let breaches = notes.breaches.sorted {
            ($0.value.time.microseconds, $0.key.installation, $0.key.kind.rawValue)
                < ($1.value.time.microseconds, $1.key.installation, $1.key.kind.rawValue)
        }
        let wanted = Set(breaches.map(\.key.installation))
        var cycles: [UInt64: [Int]] = [:]
        for (index, cycle) in judgement.cycles.enumerated() where wanted.contains(cycle.closed.installation) {
            cycles[cycle.closed.installation, default: []].append(index)
        }
        for (breach, time) in breaches {
            let own = cycles[breach.installation] ?? []
            if own.contains(where: { judgement.cycles[$0].closed.violations.contains { $0.kind == breach.kind } }) {
                continue
            }
            let violation = CycleViolation(breach.kind, besideCyclesAt: time.isAssumed ? nil : time.time)
            judgement.violationChanges[breach.kind, default: 0] += 1
            let last = own.max { judgement.cycles[$0].order.microseconds < judgement.cycles[$1].order.microseconds }
            if let latest = last {
                judgement.cycles[latest].closed.violations.append(violation)
                continue
            }
            var closed = ClosedCycle.unseen(of: breach.installation, at: nil)
            closed.violations = [violation]
            var cycle = JudgedCycle(closed: closed)
            if !unnamed.contains(breach.installation) { cycle.installation = breach.installation }
            judgement.cycles.append(cycle)
        }
    }

    private mutating func takeRuns() {
        judgement.refresh.totals = refresh.totals
        judgement.refresh.groups = refresh.groups
        if case .testRun(_?) = detail { return }
        let closed = refresh.takeClosedRuns().sorted {
            ($0.begin.microseconds, $0.installation) < ($1.begin.microseconds, $1.installation)
        }
        var runs = closed.prefix(detail.isTestRun ? .max : listedCycles).map { run in
            sourcesOfRuns[run.installation, default: RunSource(input: 0)].judged(run)
        }
        let excess = runs.count - JudgementOptions.recordedCycles
        if detail.isTestRun, excess > 0 {
            runs.sort { $0.isToldBefore($1) }
            runs.removeFirst(excess)
            runs.sort { $0.closed.begin < $1.closed.begin }
        }
        if detail.isTestRun {
            for index in runs.indices { sourcesOfRuns[runs[index].closed.installation]?.describe(&runs[index]) }
        }
        judgement.refresh.listed = runs
        judgement.refresh.omitted = UInt64(closed.count - runs.count)
    }

    /// Lists cycles that closed.
    private mutating func take(_ cycles: [ClosedCycle]) {
        for closed in cycles {
            for requirement in unmet where requirement.isMet(by: closed) { meet(requirement) }
            var cycle = JudgedCycle(closed: closed)
            if !unnamed.contains(closed.installation) { cycle.installation = closed.installation }
            if installations.count < 2 { installations.insert(cycle.installation) }
            if let note = notes.take(closed) {
                cycle.scheduleId = note.scheduleId
                cycle.input = note.input
                complete(&cycle, note)
                let endedTwice = closed.violations.contains { $0.kind == .duplicateTerminal }
                if endedTwice, unnamed.contains(closed.installation) {
                    doubts[note.input, default: []].insert(.results)
                }
                if let details = note.details.first { cycle.details = details }
            }
            list(cycle)
        }
    }

    /// Adds what the events of a cycle show: where the log cuts it, the lines of its violations, and where it stopped.
    private mutating func complete(_ cycle: inout JudgedCycle, _ note: CycleNotes.Note) {
        let evidence = note.evidence
        let log = notes.logs.indices.contains(note.device) ? notes.logs[note.device] : DeviceLog()
        cycle.kinds = evidence.kinds
        cycle.isDeliveredAgain = evidence.isDeliveredAgain
        cycle.isSubmittedAgain = evidence.isSubmittedAgain
        cycle.isRegistered = log.kinds.contains(.prefetchRegistered)
        cycle.cut = LogCut(cycle.closed, evidence, in: log)
        if isExcerpt {
            for violation in cycle.closed.violations where cycle.cut.hides(violation.kind, evidence) {
                judgement.violationChanges[violation.kind, default: 0] -= 1
            }
            cycle.closed.violations.removeAll { cycle.cut.hides($0.kind, evidence) }
        }
        cycle.places = cycle.closed.violations.map { violation in
            evidence.place(of: violation.kind).flatMap { place in
                guard place.number > 0, notes.inputs.indices.contains(Int(place.order)) else { return nil }
                return ShownPlace(input: notes.inputs[Int(place.order)], line: place.number)
            }
        }
        let isStopHidden = cycle.cut.contains(.end) || isExcerpt && !cycle.cut.isEmpty
        cycle.stop = isStopHidden ? nil : CycleStop(cycle.closed, evidence.kinds)
        if let hours = cycle.shiftedHours, let time = cycle.closed.stages.delivered {
            cycle.zoneAdvice = Advice.ofZone(shiftedHours: hours, at: time, zone)
        }
        if MarkerSequence.missing(in: evidence.kinds, of: log) < judgement.sequence.faults {
            let sequence = MarkerSequence(evidence, registered: log.registered)
            if sequence.faults < judgement.sequence.faults { judgement.sequence = sequence }
        }
        for requirement in unmet where requirement.isMet(by: evidence.kinds) { meet(requirement) }
    }

    private mutating func meet(_ requirement: Requirement) {
        judgement.reached.insert(requirement)
        unmet.removeAll { $0 == requirement }
    }

    /// Drops the cycles that are too many for records: those that never ran, then the oldest.
    private mutating func dropUnrecorded() {
        let excess = judgement.cycles.count - JudgementOptions.recordedCycles
        guard excess > 0 else { return }
        judgement.cycles.sort { $0.isToldBefore($1) }
        judgement.cycles.removeFirst(excess)
        judgement.omittedCycles += UInt64(excess)
    }

    private mutating func list(_ cycle: JudgedCycle) {
        switch detail {
        case .counters: break
        case .cycles:
            if judgement.cycles.count < listedCycles {
                judgement.cycles.append(cycle)
            } else {
                judgement.omittedCycles += 1
            }
        case .testRun(let scheduleId):
            let isWanted = scheduleId == nil || cycle.scheduleId == scheduleId
            guard isWanted else {
                judgement.omittedCycles += 1
                return
            }
            judgement.cycles.append(cycle)
            if judgement.cycles.count >= 2 * JudgementOptions.recordedCycles { dropUnrecorded() }
        }
    }
}

extension [ClosedCycle] {
    /// Those with the earliest notification first.
    fileprivate var inOrder: [ClosedCycle] {
        let order = map(\.order)
        return indices.sorted { order[$0] < order[$1] }.map { self[$0] }
    }
}
