// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Synchronization
internal import TelemetryEvents

/// The device of log lines that name none, sent over HTTP or line sockets without an id: one for all senders.
///
/// It remembers the results of recent attempts, since each body and each connection has a decoder of its own.
final class AnonymousDevice: Sendable {
    private struct State {
        var attempts = RecentAttempts()
        var warned: Set<String> = []
    }

    private let state = Mutex(State())
    private let key: IdentityKey
    private let log: Logger

    init(_ key: IdentityKey, _ log: Logger) {
        self.key = key
        self.log = log
    }

    /// What speaks against decoded lines being those of one device, also beside the lines before them.
    func doubts(_ decoded: DecodedEvents) -> DeviceDoubts {
        state.withLock { state in
            state.attempts.contradict(decoded.events, key) ? decoded.doubts.union(.results) : decoded.doubts
        }
    }

    /// Warns once of each kind of sender.
    func warn(_ doubts: DeviceDoubts, of sender: LineSender) {
        let isFirst = state.withLock { $0.warned.insert(sender.name).inserted }
        if isFirst { log.warning("\(sender.sentence(doubts))") }
    }
}

/// Where log lines come from, and what tells devices apart there.
enum LineSender {
    case http
    case lineSocket
    case file(String)
    case journal
    case standardInput

    var name: String {
        switch self {
        case .http: "bodies of text/plain"
        case .lineSocket: "line sockets"
        case .file(let path): path
        case .journal: "the followed journal"
        case .standardInput: "standard input"
        }
    }

    private var advice: String {
        switch self {
        case .http: "send each device's lines with a header X-Installation-Id or X-Source-Id of its own"
        case .lineSocket: "begin each device's connection with a line `installation ID`"
        case .file: "write each device's lines to a file of its own"
        case .journal: "set follow-journal-device to the field that names the device"
        case .standardInput: "send each device's lines over a connection of its own to a line socket"
        }
    }

    /// What was found, and what to set.
    func sentence(_ doubts: DeviceDoubts) -> String {
        "the log lines of \(name) look like those of several devices (\(doubts)) and are counted as one; \(advice)"
    }
}

/// The results of the attempts of recent cycles, in bounded memory.
struct RecentAttempts {
    /// The most cycles; the oldest are forgotten.
    static let maximum = 4_096
    private static let executionsPerCycle = 4

    private struct Cycle {
        var executions: [Int64] = []
        var success: Int64?
        var failure: (time: Int64, reason: FailureReason?)?
        var retriedAt: Int64?

        /// Whether an execution divides two results.
        func areDivided(_ first: Int64, _ second: Int64) -> Bool {
            executions.contains { $0 > min(first, second) && $0 <= max(first, second) }
        }
    }

    private var cycles: [UInt64: Cycle] = [:]
    /// A ring of the keys, and the index of the next.
    private var ring: [UInt64] = []
    private var next = 0

    /// Adds events.
    ///
    /// - Returns: whether an attempt has two results that one device cannot have told.
    mutating func contradict(_ events: EventBatch, _ key: IdentityKey) -> Bool {
        let bytes = events.bytes.span
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        var isContradiction = false
        while (try? cursor.next(into: &event, in: bytes)) ?? false {
            guard event.installation == nil, let cycle = key.cycle(of: event, in: bytes) else { continue }
            if add(event, of: cycle) { isContradiction = true }
        }
        return isContradiction
    }

    private mutating func add(_ event: Event, of key: UInt64) -> Bool {
        let time = event.timestamp.microseconds
        switch event.kind {
        case .prefetchExecuted:
            if cycles[key]?.executions.contains(time) == true { return false }
            update(key) { cycle in
                cycle.executions = Array(([time] + cycle.executions).sorted(by: >).prefix(Self.executionsPerCycle))
            }
            return false
        case .prefetchSuccess:
            return update(key) { cycle in
                cycle.success = time
                guard let failure = cycle.failure, cycle.retriedAt == nil else { return false }
                return !cycle.areDivided(time, failure.time)
            }
        case .prefetchFailure:
            return update(key) { cycle in
                guard event.willRetry == false else {
                    if event.willRetry == true { cycle.retriedAt = time }
                    return false
                }
                let before = cycle.failure
                cycle.failure = (time, event.reason)
                if let before, before.reason != event.reason, !cycle.areDivided(time, before.time) { return true }
                guard let success = cycle.success, cycle.retriedAt == nil else { return false }
                return !cycle.areDivided(time, success)
            }
        default: return false
        }
    }

    @discardableResult
    private mutating func update<Result>(_ key: UInt64, _ body: (inout Cycle) -> Result) -> Result {
        if cycles[key] == nil {
            if ring.count < Self.maximum {
                ring.append(key)
            } else {
                cycles[ring[next]] = nil
                ring[next] = key
                next = (next + 1) % Self.maximum
            }
        }
        return body(&cycles[key, default: Cycle()])
    }
}
