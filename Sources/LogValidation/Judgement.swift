// SPDX-License-Identifier: Apache-2.0

package import LifecycleMetrics
internal import MetricsRegistry
internal import PrefetchLifecycle
internal import RefreshLifecycle
package import TelemetryEvents
internal import TextOutput

/// The result of validating device logs or events: cycles, counters, lines and the verdict.
package struct Judgement: Sendable {
    /// The cycles, by notification time.
    var cycles: [JudgedCycle] = []
    /// The number of cycles not listed.
    var omittedCycles: UInt64 = 0
    /// The fold's totals.
    var totals = LifecycleTotals()
    /// The totals by platform and app version.
    var groups: [LifecycleGroup] = []
    /// What the apps told of their pending notifications.
    var pending = PendingNotifications()
    /// The runs of the background refresh.
    var refresh = JudgedRuns()
    /// The apps whose events are judged.
    var apps: Set<App> = Set(App.allCases)
    /// The number of events, including those that belong to no cycle.
    var events: UInt64 = 0
    /// What each input held, in the order of the inputs.
    var inputs: [JudgedInput] = []
    /// Whether the inputs come from several devices, so that each cycle names its file.
    var namesFiles = false
    /// The first rejected events, in the order in which they were read.
    var rejected: [RejectedEvent] = []
    /// The number of rejected events, listed or not.
    var rejectedEvents: UInt64 = 0
    /// Whether events name several installations, so that each cycle names its own.
    var namesInstallations = false
    /// The requirements that at least one cycle meets.
    var reached: Set<Requirement> = []
    /// The device as any event describes it.
    var device = DeviceNames()
    /// The conditions as any event tells them, where a test run is recorded.
    var conditions = RunConditions()
    /// What the log of each device holds.
    var logs: [DeviceLog] = []
    /// The best of the cycles' marker sequences.
    var sequence = MarkerSequence.empty
    /// The comparison with the plugin's schedule, where one was given.
    package internal(set) var scheduleCheck: CheckResult?
    /// What the judgement takes from the fold's count of violations, and adds to it.
    var violationChanges: [ViolationKind: Int64] = [:]

    init() {}

    /// The verdict.
    ///
    /// - Parameter strict: whether rules of bucket B count like those of bucket A.
    package func verdict(strict: Bool = false) -> Verdict {
        if rejectedEvents > 0 { return .incoherent }
        if closedCycles == 0, refresh.closed == 0 { return .empty }
        return faultCount(strict: strict) == 0 ? .coherent : .incoherent
    }

    /// The apps that the input tells of; the plugin's where it tells of none.
    var toldApps: Set<App> {
        guard apps.count > 1 else { return apps }
        if refresh.events == 0 { return [.dnp] }
        return refresh.events < events ? [.dnp, .aiq] : [.aiq]
    }

    /// Why the verdict is `empty`.
    var emptySentence: String {
        if !toldApps.contains(.dnp) { return refresh.emptySentence }
        return switch events {
        case 0: "the input holds no lifecycle event"
        case 1: "the input holds one event, which opens no cycle"
        default: "the input holds \(events) events, none of which opens a cycle"
        }
    }

    /// The name of a cycle's file, where there are several devices, or the cycle is that of the file's own among others.
    func file(of cycle: JudgedCycle) -> String? {
        let isNamed = namesFiles || namesInstallations && cycle.installation == nil
        return isNamed && inputs.indices.contains(cycle.input) ? inputs[cycle.input].name : nil
    }

    /// The pseudonym of a cycle's installation, where there are several; it changes with every run.
    func installation(of cycle: JudgedCycle) -> String? {
        guard namesInstallations, let installation = cycle.installation else { return nil }
        let digits = String(installation, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The requirements that no cycle and no run meets.
    package func unmet(_ requirements: [Requirement]) -> [Requirement] { requirements.filter { !isMet($0) } }

    /// Whether a requirement is met, by a run where `asksRuns(_:)`, else by a cycle.
    func isMet(_ requirement: Requirement) -> Bool {
        asksRuns(requirement) ? refresh.meets(requirement) : reached.contains(requirement)
    }

    /// Whether a requirement is one of runs: by its name, or where the input tells of nothing else.
    private func asksRuns(_ requirement: Requirement) -> Bool {
        requirement.isOfRuns && (!requirement.isOfCycles || toldApps == [.aiq])
    }

    /// The message for an unmet requirement.
    package func unmetSentence(_ requirement: Requirement) -> String {
        if asksRuns(requirement) { return requirement.unmetRunSentence }
        guard toldApps == [.aiq] else { return requirement.unmetSentence }
        return "\(requirement.unmetSentence), and the input tells of the background refresh alone"
    }

    /// The number of unrecognised lines.
    package var unrecognisedLines: UInt64 { lines.unrecognised }

    var lines: LogLineCounts {
        var sum = LogLineCounts()
        for input in inputs {
            sum.read += input.lines.read
            sum.recognised += input.lines.recognised
            sum.foreign += input.lines.foreign
            sum.unrecognised += input.lines.unrecognised
        }
        return sum
    }

    /// What should be known of the inputs, though it changes no verdict.
    var notes: [String] { inputs.compactMap(\.note) + refusalNotes }

    /// In words that the system refused the task, where nothing ran in spite of that.
    private var refusalNotes: [String] {
        guard let log = logs.first(where: \.isRefused), totals.scheduled == 0, totals.executed == 0 else { return [] }
        let expected = "expected on a simulator, where it is no bug of the plugin, and no prefetch could run"
        let isOff = "on a device Background App Refresh is off, or Info.plist lacks the task's identifier"
        let why = log.isSimulator.map { $0 ? expected : isOff } ?? "\(expected); \(isOff)"
        return ["the system refused to schedule the task (BGTaskSchedulerErrorDomain Code=1): \(why)"]
    }

    /// What to look at where there is no cycle, or no run.
    var hints: [String] {
        let isEmpty = verdict() == .empty && toldApps.contains(.dnp)
        return (isEmpty ? Advice.ofEmptyLog(self, logs) : []) + RefreshAdvice.of(self)
    }

    var closedCycles: UInt64 { UInt64(cycles.count) + omittedCycles }

    /// Sorts the cycles by notification time: their places first, then each cycle moves once, without a copy, since it is
    /// some hundred bytes with references.
    mutating func sortCycles() {
        let order = cycles.map(\.order)
        var places = cycles.indices.sorted { left, right in
            if order[left] != order[right] { return order[left] < order[right] }
            let (first, second) = (cycles[left], cycles[right])
            return (first.scheduleId ?? "", first.input) < (second.scheduleId ?? "", second.input)
        }
        for start in places.indices {
            var place = start
            while places[place] != start {
                let source = places[place]
                cycles.swapAt(place, source)
                places[place] = place
                place = source
            }
            places[place] = place
        }
    }

    /// The number of violations that make the judgement incoherent.
    func faultCount(strict: Bool) -> UInt64 {
        ViolationKind.allCases.reduce(refresh.faultCount(strict: strict)) {
            $1.bucket.isFault(strict: strict) ? $0 + violations($1) : $0
        }
    }

    /// The number of violations of a rule that are told.
    private func violations(_ kind: ViolationKind) -> UInt64 {
        UInt64(max(0, Int64(clamping: totals.violations(kind)) + (violationChanges[kind] ?? 0)))
    }

    /// A line of an input, as in `device.log:12`.
    func text(of place: ShownPlace) -> String {
        "\(PlainText.line(inputs.indices.contains(place.input) ? inputs[place.input].name : "input")):\(place.line)"
    }
}

/// An event that was rejected.
struct RejectedEvent: Sendable {
    /// The index of its input.
    var input: Int
    /// Its index in the input, from 0; among lines that of its line.
    var index: Int
    /// What was expected and what was found.
    var reason: String
}

/// What one input held.
struct JudgedInput: Sendable {
    /// The name as the user gave it; "standard input" for `-`.
    var name: String
    /// The lines; in a JSON document each event counts as one.
    var lines = LogLineCounts()
    /// The first unrecognised lines.
    var unrecognised: [UnexplainedLine] = []
    /// What speaks against it being of one device.
    var doubts: DeviceDoubts = []

    /// What to do where it cannot be of one device; nil where nothing speaks against that.
    var note: String? {
        if doubts.isEmpty { return nil }
        return "\(PlainText.line(name)) looks like the log of several devices (\(doubts)); "
            + "if it is of one, what is judged stands; else give each device's log as a file of its own"
    }
}

/// An unrecognised line for `--explain`.
struct UnexplainedLine: Sendable {
    /// The line number from 1; in a JSON document the event's number.
    var number: UInt64
    /// The redacted text; empty where it cannot be shown.
    var text: String
    /// What was expected.
    var why: String
}

/// The verdict of a judgement.
package enum Verdict: String, Sendable {
    /// No cycle breaks a rule that counts, and no event was rejected.
    case coherent
    /// A cycle breaks a rule of bucket A (in a strict judgement, of A or B), or an event was rejected.
    case incoherent
    /// There is no cycle in the input.
    case empty
}

extension Judgement {
    /// The lifecycle metrics as a scrape of the service would show them (Prometheus text 0.0.4).
    ///
    /// - Parameter labels: labels to add to the families' own.
    package func exposition(labels: [LifecycleLabel] = []) -> [UInt8] {
        let registry = MetricsRegistry(now: { 0 })
        let own = Set(registry.descriptors.map(\.name))
        if apps.contains(.dnp) {
            var metrics = LifecycleInstruments(registry, created: 0, labels: labels, isReceiver: false)
            registry.update { metrics.set(groups, openCycles: 0, pending: pending, in: &$0) }
        }
        if apps.contains(.aiq) {
            var metrics = RefreshInstruments(registry, created: 0, labels: labels)
            registry.update { metrics.set(refresh.groups, in: &$0) }
        }
        return registry.exposition(names: Set(registry.descriptors.map(\.name)).subtracting(own))
    }
}

/// A stage or outcome that at least one cycle or run must have reached (`--require`).
package enum Requirement: String, CaseIterable, Sendable {
    /// The task was registered with the system.
    case registered
    /// A task was scheduled.
    case scheduled
    /// A schedule was written to the plugin's database.
    case persisted
    /// A task was executed.
    case executed
    /// A fetch began.
    case started
    /// A fetch succeeded.
    case success
    /// A fetch failed for good.
    case failure
    /// A task was told to be completed.
    case completed
    /// A notification used prefetched content.
    case used
    /// A notification was delivered.
    case delivered
    /// A cycle ended as `fallback`.
    case fallback
    /// A cycle ended as `failed`.
    case failed
    /// A cycle ended as `missed`.
    case missed
    /// A cycle ended as `incomplete`.
    case incomplete
    /// A run checked whether a test is due.
    case checked
    /// A run notified the user.
    case notified
    /// A run ended as `expired`.
    case expired
    /// A run ended as `skipped`.
    case skipped

    private static let ofRunsAlone: Set<Requirement> = [.checked, .notified, .expired, .skipped]
    private static let ofBoth: Set<Requirement> = [.scheduled, .started, .completed, .failed, .incomplete]

    /// Whether cycles can meet it.
    var isOfCycles: Bool { !Self.ofRunsAlone.contains(self) }
    /// Whether runs of the background refresh can meet it.
    var isOfRuns: Bool { Self.ofRunsAlone.contains(self) || Self.ofBoth.contains(self) }

    /// Whether what an app tells of can meet it.
    package func exists(for app: App) -> Bool { app == .dnp ? isOfCycles : isOfRuns }

    /// Parses comma-separated names; nil when one is unknown or empty.
    package static func list(_ text: String) -> [Requirement]? {
        var list: [Requirement] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let requirement = Requirement(rawValue: part.trimmed.lowercased()) else { return nil }
            list.append(requirement)
        }
        return list
    }

    /// The message for one that no cycle meets.
    var unmetSentence: String {
        switch self {
        case .registered: "no registration of the task is told"
        case .scheduled: "no cycle was scheduled"
        case .persisted: "no cycle's schedule was persisted"
        case .executed: "no cycle was executed"
        case .started: "no cycle's fetch began"
        case .success: "no cycle's fetch succeeded"
        case .failure: "no cycle's fetch failed"
        case .completed: "no cycle's task was completed"
        case .used: "no cycle's content was used for its notification"
        case .delivered: "no cycle's notification was delivered"
        case .fallback, .failed, .missed, .incomplete: "no cycle ended as \(rawValue)"
        case .checked, .notified, .expired, .skipped: unmetRunSentence
        }
    }

    /// The message for one that no run meets.
    var unmetRunSentence: String {
        switch self {
        case .started: "no run of the background refresh began"
        case .checked: "no run of the background refresh checked whether a test is due"
        case .notified: "no run of the background refresh notified the user"
        case .scheduled: "no run of the background refresh was scheduled"
        default: "no run of the background refresh ended as \(rawValue)"
        }
    }

    func isMet(by cycle: ClosedCycle) -> Bool {
        switch self {
        case .registered, .persisted, .started, .completed, .checked, .notified, .expired, .skipped: false
        case .scheduled: cycle.stages.scheduled != nil
        case .executed: cycle.stages.executed != nil
        case .success: cycle.stages.success != nil
        case .failure: cycle.stages.failure != nil
        case .used: cycle.stages.used != nil || cycle.outcome == .used
        case .delivered: cycle.stages.delivered != nil
        case .fallback: cycle.outcome == .fallback
        case .failed: cycle.outcome == .failed
        case .missed: cycle.outcome == .missed
        case .incomplete: cycle.outcome == .incomplete
        }
    }

    /// Whether the events of a cycle meet it, where it is about an event that is no stage of the fold.
    func isMet(by kinds: EventKinds) -> Bool {
        switch self {
        case .persisted: kinds.contains(.schedulePersisted)
        case .started: kinds.contains(.prefetchStarted)
        case .completed: kinds.contains(.prefetchCompleted)
        default: false
        }
    }
}

/// The result of one check beside the rules: a scenario, the sequence, or a schedule that was given.
package struct CheckResult: Sendable {
    /// The JUnit suite: "scenarios", "sequence" or "schedule".
    let suite: String
    /// The case.
    package let name: String
    /// What is not as expected; empty where the check passes.
    package var failures: [String] = []
    /// What should be known beside.
    var notes: [String] = []
    /// What the log does not show, though the check asks for no more than one of its kind.
    var untested: String?

    /// Whether everything is as expected.
    package var isPassed: Bool { failures.isEmpty }
}
