// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// Binds lines to cycles and folds the events into a judgement: the second of the two threads of a run.
struct JudgementFolding {
    /// More cycles than one piece of an input can hold.
    private static let cyclesOfAPiece = 32_768

    private let detail: JudgementOptions.Detail
    private let key: IdentityKey
    private let unbound: LogBinder
    /// Of the input that is being read.
    private var binder: LogBinder
    private let listedCycles: Int
    private var fold: LifecycleFold
    private var notes: CycleNotes
    private var judgement = Judgement()

    /// - Parameters:
    ///   - openCycles: how many cycles are open at most.
    ///   - listedCycles: how many of the closed ones are listed at most.
    init(
        _ options: JudgementOptions,
        _ pseudonyms: OneRunPseudonyms,
        openCycles: Int,
        listedCycles: Int = JudgementOptions.listedCycles
    ) {
        self.listedCycles = listedCycles
        detail = options.detail
        key = pseudonyms.identityKey
        unbound = LogBinder(options.lines, pseudonyms: pseudonyms, identityKey: key)
        binder = unbound
        var limits = LifecycleLimits()
        limits.openCycles = openCycles
        fold = LifecycleFold(
            key: key,
            limits: limits,
            keepsClosedCycles: detail.needsCycles,
            deduplicates: false,
            isReceiver: false
        )
        // The cycles that one piece closes are still noted while its events are.
        notes = CycleNotes(limit: openCycles + Self.cyclesOfAPiece, hasDetails: detail.isTestRun)
    }

    mutating func add(_ piece: InputPiece, input: Int, readAt: Timestamp) {
        switch piece {
        case .lines(let parsed): add(binder.bind(parsed, readAt: readAt), input: input, receivedAt: readAt)
        case .events(let decoded): add(decoded, input: input, receivedAt: readAt)
        case .end(let judged):
            add(binder.flush(readAt: readAt), input: input, receivedAt: readAt)
            binder = unbound
            judgement.inputs.append(judged)
        }
    }

    private mutating func add(_ decoded: DecodedEvents, input: Int, receivedAt: Timestamp) {
        let events = decoded.events
        judgement.events += UInt64(events.count)
        if detail.needsCycles { notes.note(events, untimedLines: decoded.untimedLines, input: input, key: key) }
        try? fold.apply(events.bytes.span, receivedAt: receivedAt)
        takeCycles()
    }

    consuming func finish() -> Judgement {
        fold.finish()
        takeCycles()
        judgement.totals = fold.totals
        judgement.groups = fold.totalsByGroup
        judgement.device = notes.device
        judgement.cycles.sort { left, right in
            left.order == right.order
                ? (left.scheduleId ?? "", left.input) < (right.scheduleId ?? "", right.input) : left.order < right.order
        }
        return judgement
    }

    private mutating func takeCycles() {
        guard detail.needsCycles else { return }
        for closed in fold.takeClosedCycles() {
            for requirement in Requirement.allCases where requirement.isMet(by: closed) {
                judgement.reached.insert(requirement)
            }
            var cycle = JudgedCycle(closed: closed)
            if let note = notes.take(closed) {
                cycle.scheduleId = note.scheduleId
                cycle.input = note.input
                if let details = note.details { cycle.details = details }
            }
            list(cycle)
        }
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
            let isLater = judgement.cycles.first.map { $0.order <= cycle.order } ?? true
            if isWanted, isLater {
                judgement.omittedCycles += UInt64(judgement.cycles.count)
                judgement.cycles = [cycle]
            } else {
                judgement.omittedCycles += 1
            }
        }
    }
}

extension JudgementOptions.Detail {
    fileprivate var needsCycles: Bool {
        if case .counters = self { false } else { true }
    }

    var isTestRun: Bool {
        if case .testRun = self { true } else { false }
    }
}
