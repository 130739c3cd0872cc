// SPDX-License-Identifier: Apache-2.0

/// The state of one device: its cycles and the events that wait.
struct LogDevice {
    /// The maximum number of remembered cycles.
    static let maximumCycles = 32
    /// The maximum number of waiting events.
    static let maximumHeld = 64

    /// The hash of the name.
    var name: UInt64
    /// The pseudonym of the device; nil if the wrapper names none.
    var installation: Pseudonym?
    var cycles: [KnownCycle] = []
    var held: [HeldEvent] = []
    var usedAt: UInt64 = 0
    var lastSerial: UInt32 = 0
    /// The times of its lines since the start.
    var stamped = StampedSpan()

    init(name: UInt64, installation: Pseudonym?) {
        self.name = name
        self.installation = installation
    }

    /// The index of a cycle; searches from the newest.
    func index(of serial: UInt32) -> Int? {
        guard serial != 0 else { return nil }
        return lastIndex { $0.serial == serial }
    }

    func lastIndex(where matches: (KnownCycle) -> Bool) -> Int? {
        var index = cycles.count - 1
        while index >= 0 {
            if matches(cycles[index]) { return index }
            index -= 1
        }
        return nil
    }

    mutating func open(process: UInt64) -> Int {
        lastSerial &+= 1
        if lastSerial == 0 { lastSerial = 1 }
        cycles.append(KnownCycle(serial: lastSerial, process: process))
        return cycles.count - 1
    }

    func knows(_ idHash: UInt64) -> Bool {
        cycles.contains { $0.idHash == idHash }
    }

    /// The id of the cycle at an index, without a copy of the cycle.
    @inline(never)
    func id(at index: Int) -> KnownId { cycles[index].id }

    /// The id of the cycle with this hash.
    func id(of idHash: UInt64) -> KnownId {
        lastIndex { $0.idHash == idHash }.map { cycles[$0].id } ?? KnownId()
    }
}

/// The schedule id of a cycle in the form in which it leaves the decoder.
struct KnownId {
    /// The id, or its pseudonym.
    var text: [UInt8] = []
    /// The id itself where a pseudonym stands for it; never saved.
    var original: [UInt8] = []
    /// The hash of installation and original id; 0 until an event was emitted.
    var schedule: UInt64 = 0

    var isEmpty: Bool { text.isEmpty }
    var isPseudonym: Bool { !original.isEmpty || schedule != 0 }

    init() {}

    init(_ id: [UInt8], _ pseudonyms: any Pseudonymising) {
        if pseudonyms.keepsIdentifiers || EventTexts.isPlain(0..<id.count, in: id.span) {
            text = id
            return
        }
        original = id
        var texts = EventTexts(id)
        let pseudonym = texts.pseudonym(of: 0..<id.count, pseudonyms)
        text = Array(texts.bytes[pseudonym])
    }
}

/// A cycle of a device, as far as its lines describe it.
struct KnownCycle {
    struct Progress: OptionSet {
        var rawValue: UInt8
        static let scheduled = Progress(rawValue: 1 << 0)
        static let executed = Progress(rawValue: 1 << 1)
        static let ended = Progress(rawValue: 1 << 2)
        static let delivered = Progress(rawValue: 1 << 3)
        /// Its events no longer wait for a schedule id.
        static let released = Progress(rawValue: 1 << 4)
        static let missed = Progress(rawValue: 1 << 5)
        /// Other processes of the device run concurrently with the one that opened it.
        static let concurrent = Progress(rawValue: 1 << 6)
        /// Only in states of the versions before: its first events were emitted before sources were devices of their own.
        static let withoutSource = Progress(rawValue: 1 << 7)
    }

    /// The results of the attempt so far.
    struct Results: OptionSet {
        var rawValue: UInt8
        static let succeeded = Results(rawValue: 1 << 0)
        static let failed = Results(rawValue: 1 << 1)
        static let retries = Results(rawValue: 1 << 2)
        /// The reason is that of a line such as `JWT expired`, which has it in its form.
        static let formTellsReason = Results(rawValue: 1 << 7)
        private static let reasonBits: UInt8 = 0b111_1000

        /// The reason of the failure that was final.
        var reason: FailureReason? {
            get {
                let bits = rawValue & Self.reasonBits
                return bits == 0 ? nil : FailureReason(rawValue: (bits >> 3) - 1)
            }
            set { rawValue = rawValue & ~Self.reasonBits | (newValue.map { ($0.rawValue + 1) << 3 } ?? 0) }
        }

        /// Whether one attempt cannot have them all.
        var contradict: Bool { isSuperset(of: [.succeeded, .failed]) && !contains(.retries) }
    }

    /// The installation of a cycle's events: that of the first one, so that they stay together when more becomes known of
    /// their device.
    enum Installation: Equatable {
        case undecided
        case decided(Pseudonym?)
    }

    /// Unique on its device.
    let serial: UInt32
    /// The process whose line opened it.
    let process: UInt64
    /// The keyed hash of the schedule id; 0 if unknown.
    var idHash: UInt64 = 0
    /// The schedule id; empty if unknown.
    var id = KnownId()
    /// The notification's due time.
    var due: Timestamp?
    /// The task's earliest begin time.
    var begin: Timestamp?
    /// The time of its last line of a run, a delivery or a summary, where one had a time.
    var seen: Timestamp?
    var progress: Progress = []
    var results: Results = []
    var installation = Installation.undecided

    var isWaiting: Bool { progress.contains(.scheduled) && progress.isDisjoint(with: [.executed, .delivered]) }
    var isDelivered: Bool { progress.contains(.delivered) }
    /// The sort key among the cycles of a device.
    var order: Timestamp { due ?? begin ?? Timestamp(microseconds: .max) }

    /// How far a time is from its planned times; where none is known, from what was seen of it.
    func distance(to time: Timestamp) -> UInt64 {
        (due ?? begin ?? seen)?.distance(to: time) ?? .max
    }

    /// Whether nothing is known of it but that something ran.
    var isBare: Bool {
        idHash == 0 && due == nil && begin == nil
            && progress.isDisjoint(with: [.scheduled, .ended, .delivered, .released, .missed])
    }

    /// Whether its events have their mandatory fields and need not wait.
    var isBound: Bool { idHash != 0 || progress.contains(.released) }

    mutating func execute() {
        progress.insert(.executed)
        progress.remove(.ended)
        results = []
    }

    /// Notes the result of a fetch that a line tells.
    ///
    /// - Returns: whether one attempt cannot have it beside the results before.
    mutating func note(_ message: LogMessage) -> Bool {
        switch message.form.kind {
        case .prefetchSuccess:
            results.insert(.succeeded)
            return results.contradict
        // A line such as "JWT expired" does not say that the attempt ends with it.
        case .prefetchFailure where message.form.reason != nil:
            if results.reason == nil {
                results.reason = message.form.reason
                results.insert(.formTellsReason)
            }
            return false
        case .prefetchFailure:
            if message.willRetry == true {
                results.insert(.retries)
                return false
            }
            results.insert(.failed)
            guard message.willRetry == false, let reason = message.reason else { return results.contradict }
            let isOther = !results.contains(.formTellsReason) && results.reason.map { $0 != reason } ?? false
            results.reason = reason
            results.remove(.formTellsReason)
            return isOther || results.contradict
        default: return false
        }
    }

    /// Whether a line tells of a failure whose reason a line of the other form has told already, `JWT expired` behind
    /// `Fetch failed` or before it: the first one that names a reason tells it.
    func knowsReason(for message: LogMessage) -> Bool {
        guard message.form.kind == .prefetchFailure, message.willRetry != true, !results.contains(.retries),
            results.reason != nil
        else { return false }
        return results.contains(.formTellsReason) != (message.form.reason != nil)
    }

    /// Stops waiting for an id. A cycle without a due time gets an id from its first event, since events need one of
    /// the two; not from a time that no event may have, with which the event is refused and the id would be no plain one.
    mutating func release(at time: Timestamp, _ key: IdentityKey) {
        if idHash != 0 || due != nil {
            progress.insert(.released)
            return
        }
        guard time >= .earliestAccepted, time < .latestPlanned else { return }
        progress.insert(.released)
        id.text = Array("unnamed-\(time)".utf8)
        idHash = key.text(id.text.span, 0..<id.text.count)
    }
}

/// The lines of one process: their current cycle in each phase of the lifecycle, and their times.
struct LogStream {
    /// The hash of the device's name.
    var device: UInt64
    let process: UInt64
    /// The serials of the current cycles; 0 for none.
    var scheduling: UInt32 = 0
    var execution: UInt32 = 0
    var delivery: UInt32 = 0
    /// The phase of the last line that belongs to a cycle.
    var phase = LogRule.Phase.plugin
    /// Whether its last lines came back to a delivered cycle by its name, so that those behind them tell of that one.
    var isBackInDelivered = false
    /// The time of the last stamped line, a microsecond later for each run that began behind it without a stamp.
    var last: Timestamp?
    /// The app whose run the last line began, so that the same line without a stamp begins no other one.
    var begunRun: App?
    /// The last absolute time in a message, from which a stamp without a year gets one.
    var anchor: Timestamp?
    /// The last refusal to schedule.
    var refusal = LogRefusal()
    /// When the stream was last used, as a line count.
    var usedAt: UInt64 = 0

    subscript(phase: LogRule.Phase) -> UInt32 {
        get {
            switch phase {
            case .scheduling: scheduling
            case .execution: execution
            case .delivery, .summary: delivery
            case .plugin: 0
            }
        }
        set {
            switch phase {
            case .scheduling: scheduling = newValue
            case .execution: execution = newValue
            case .delivery, .summary: delivery = newValue
            case .plugin: break
            }
        }
    }

    /// Replaces a merged cycle by the one it was merged into.
    mutating func replace(_ serial: UInt32, by other: UInt32) {
        if scheduling == serial { scheduling = other }
        if execution == serial { execution = other }
        if delivery == serial { delivery = other }
    }
}

/// The last line that told that the system refused to schedule a task.
struct LogRefusal: Equatable {
    /// What tells of it.
    enum Form: UInt8 {
        case none = 0
        /// The line with the error.
        case error = 1
        /// The hint that it is expected on a simulator, without the error so far.
        case hint = 2
    }

    /// How far apart the lines of one refusal may be, in microseconds.
    private static let incident: UInt64 = 5_000_000

    var form = Form.none
    var wallMicroseconds: Int64 = 0

    /// Notes a line.
    ///
    /// - Returns: whether it tells of the same refusal as the one before it in the other form.
    mutating func note(isHint: Bool, at time: Int64) -> Bool {
        let isNear = form != .none && (time &- wallMicroseconds).magnitude <= Self.incident
        if isHint, isNear, form == .error { return true }
        let isToldBefore = !isHint && isNear && form == .hint
        self = LogRefusal(form: isHint ? .hint : .error, wallMicroseconds: time)
        return isToldBefore
    }
}

/// The first and last line of each process of a log.
///
/// Processes whose ranges overlap run concurrently; if they do not overlap, the later one may be a relaunch of the
/// earlier.
struct LogLifetimes: Sendable {
    private static let maximum = 4_096

    private struct Process: Hashable {
        var device: UInt64
        var process: UInt64
    }

    private var lines: [Process: ClosedRange<Int>] = [:]
    private var last: Process?
    private var lastLine = 0
    /// The largest number of a line so far.
    private var endLine = 0
    /// The number of lines in the parts of the log before the current one.
    private var earlierLines = 0

    /// Records the lines of a chunk, before they are bound.
    mutating func add(_ messages: [ParsedMessage]) {
        for index in messages.indices where messages[index].process != 0 && !messages[index].message.form.isOfRefresh {
            let process = Process(device: messages[index].device, process: messages[index].process)
            let line = earlierLines + messages[index].line
            if process != last {
                extendLast()
                last = process
                begin(process, line)
            }
            lastLine = line
            endLine = max(endLine, line)
        }
        extendLast()
    }

    /// Continues with another part of the log, whose lines are numbered from 0 again.
    mutating func beginPart() {
        earlierLines = endLine + 1
    }

    /// Whether two different processes of a device run concurrently.
    func overlap(device: UInt64, _ process: UInt64, _ other: UInt64) -> Bool {
        guard process != other, let first = lines[Process(device: device, process: process)],
            let second = lines[Process(device: device, process: other)]
        else { return false }
        return first.overlaps(second)
    }

    /// Whether another process of the device runs concurrently with this one.
    func overlapsAnother(device: UInt64, _ process: UInt64) -> Bool {
        guard lines.count > 1, let own = lines[Process(device: device, process: process)] else { return false }
        return lines.contains { other, range in
            other.device == device && other.process != process && range.overlaps(own)
        }
    }

    private mutating func begin(_ process: Process, _ line: Int) {
        guard lines[process] == nil else { return }
        if lines.count >= Self.maximum { lines.removeAll() }
        lines[process] = line...line
    }

    private mutating func extendLast() {
        guard let last, let range = lines[last] else { return }
        lines[last] = min(range.lowerBound, lastLine)...max(range.upperBound, lastLine)
    }
}
