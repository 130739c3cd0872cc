// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `rlimit` to one of CDispatch, CoreFoundation and Glibc, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc
internal import MetricsRegistry
internal import NIOCore
internal import Synchronization

/// The open connections of all listeners together.
///
/// At the limit, the connection on which no request has been under way for longest makes room for a new one; where there is
/// none, new ones wait. So neither idle clients nor those that send half a head, or nothing, keep others out. At the limit of
/// one client its own make room in the same order, so that it does not shut out those who share its address.
final class ConnectionTable: Sendable {
    /// How many are asked to make room in the order of one look at all.
    private static let looked = 64

    private struct State {
        var admission = ConnectionAdmission()
        var entries: [ObjectIdentifier: ConnectionEntry] = [:]
        /// The next to make room, the last one first.
        var candidates: [(entry: ConnectionEntry, order: UInt64)] = []
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    private let stopping = Atomic(false)
    private let live: LiveConfiguration
    private let descriptors: Int
    let metrics: ConnectionMetrics

    /// What the ledger, the journal, the sources and the threads have open, with room to spare.
    private static let otherDescriptors = 64
    /// So many connections there may be however few files the process may open.
    private static let least = 8

    /// - Parameter descriptors: how many files and sockets the process may have open.
    init(_ live: LiveConfiguration, _ metrics: ConnectionMetrics, descriptors: Int) {
        self.live = live
        self.descriptors = max(Self.least, descriptors - Self.otherDescriptors)
        self.metrics = metrics
    }

    /// Lets a connection in, if it may.
    func enter(_ channel: any Channel, isReserved: Bool, at now: NIODeadline) -> ConnectionAdmission.Decision {
        let client = ClientAddress(channel.remoteAddress)
        var limits = live.connectionLimits
        limits.all = min(limits.all, descriptors)
        let (decision, leaving) = state.withLock { state in
            var decision = state.admission.enter(client, isReserved: isReserved, isStopping ? .none : limits)
            var leaving: [ConnectionEntry] = []
            if case .tooManyOfClient(let excess) = decision, let chosen = Self.spare(excess, of: client, state, now) {
                leaving = chosen
                state.admission.comeIn(client)
                decision = .comeIn
            }
            if decision == .comeIn {
                state.entries[ObjectIdentifier(channel)] = ConnectionEntry(channel, client: client, at: now)
                metrics.open.set(state.admission.open)
            }
            return (decision, leaving)
        }
        for entry in leaving { ask(entry) }
        return decision
    }

    /// Chooses those of a client that have been silent longest, as many as have to go besides those that are leaving.
    ///
    /// - Returns: nil where there are not so many.
    private static func spare(
        _ count: Int,
        of client: ClientAddress?,
        _ state: State,
        _ now: NIODeadline
    ) -> [ConnectionEntry]? {
        let own = state.entries.values.filter { $0.client == client }
        let missing = max(0, count - own.count(where: \.isLeaving))
        let chosen = own.map { (entry: $0, order: $0.order) }
            .filter { $0.order <= now.uptimeNanoseconds }
            .sorted { $0.order < $1.order }
            .prefix(missing)
            .map(\.entry)
        guard chosen.count == missing else { return nil }
        for entry in chosen { entry.isChosen() }
        return chosen
    }

    /// The entry of a connection that was let in.
    func entry(of channel: any Channel) -> ConnectionEntry? {
        state.withLock { $0.entries[ObjectIdentifier(channel)] }
    }

    /// A connection that was let in has closed; those that wait try again.
    func leave(_ channel: any Channel) {
        let waiting = state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: ObjectIdentifier(channel)) else {
                return [@Sendable () -> Void]()
            }
            state.admission.leave(entry.client)
            metrics.open.set(state.admission.open)
            defer { state.waiting.removeAll() }
            return Array(state.waiting.values)
        }
        for wake in waiting { wake() }
    }

    /// Calls when a connection has gone, once.
    func wait(_ gate: ObjectIdentifier, _ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting[gate] = wake }
    }

    /// Asks the connection to close on which no request has been under way for longest; false where there is none.
    @discardableResult
    func makeRoom(at now: NIODeadline) -> Bool {
        let chosen = state.withLock { state -> ConnectionEntry? in
            if let entry = Self.candidate(&state, now) { return entry }
            let spare = state.entries.values.map { (entry: $0, order: $0.order) }
                .filter { $0.order <= now.uptimeNanoseconds }
            state.candidates = spare.sorted { $0.order < $1.order }.prefix(Self.looked).reversed()
            return Self.candidate(&state, now)
        }
        guard let chosen else { return false }
        ask(chosen)
        return true
    }

    private func ask(_ entry: ConnectionEntry) {
        metrics.refused[.madeRoom].add()
        entry.askForRoom()
    }

    /// The next candidate on which nothing has happened since it was chosen.
    private static func candidate(_ state: inout State, _ now: NIODeadline) -> ConnectionEntry? {
        while let (entry, order) = state.candidates.popLast() {
            guard entry.order == order, state.entries[ObjectIdentifier(entry.channel)] === entry else { continue }
            entry.isChosen()
            return entry
        }
        return nil
    }

    /// From now on connections end as soon as they can, and those that were accepted all come in.
    func stop() {
        stopping.store(true, ordering: .relaxed)
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Whether a connection was accepted and is not read from yet.
    var hasStarting: Bool { state.withLock { $0.entries.values.contains(where: \.isStarting) } }

    /// All that are open.
    var all: [any Channel] { state.withLock { $0.entries.values.map(\.channel) } }
}

extension LiveConfiguration {
    var connectionLimits: ConnectionAdmission.Limits {
        let current = current
        return ConnectionAdmission.Limits(
            all: current.maximumConnections,
            ofClient: current.maximumConnectionsPerClient
        )
    }

    var phaseLimits: ConnectionPhases.Limits {
        let current = current
        return ConnectionPhases.Limits(
            header: TimeAmount(current.headerTimeout),
            body: TimeAmount(current.bodyTimeout),
            response: TimeAmount(current.responseTimeout),
            idle: TimeAmount(current.idleTimeout)
        )
    }
}

/// An open connection, as those see it who choose which one makes room.
final class ConnectionEntry: Sendable {
    /// A connection that has just answered is expected to go on; it makes no room before it was silent for so long.
    private static let expectation = TimeAmount.seconds(1)

    let channel: any Channel
    let client: ClientAddress?
    /// In the place of a time: a request is under way.
    private static let atWork = UInt64.max
    /// In the place of a time: it was asked to make room, and is on its way out.
    private static let asked = UInt64.max - 1

    /// From when it may make room, in nanoseconds of the monotonic clock.
    private let spareFrom: Atomic<UInt64>
    private let begun = Atomic(false)

    init(_ channel: any Channel, client: ClientAddress?, at now: NIODeadline) {
        self.channel = channel
        self.client = client
        spareFrom = Atomic(now.uptimeNanoseconds)
    }

    /// Its requests are read from now on.
    func hasBegun() {
        begun.store(true, ordering: .relaxed)
    }

    /// Whether it was accepted and is not read from yet.
    var isStarting: Bool { !begun.load(ordering: .relaxed) }

    /// The first byte of a request came. Until its head is complete it makes room still, behind those that began before.
    func headBegins(at now: NIODeadline) {
        if order < now.uptimeNanoseconds { spareFrom.store(now.uptimeNanoseconds, ordering: .relaxed) }
    }

    /// The head of a request is complete, and the request under way.
    func isAtWork() {
        spareFrom.store(Self.atWork, ordering: .relaxed)
    }

    /// No request is under way.
    func isSilent(since now: NIODeadline) {
        spareFrom.store((now + Self.expectation).uptimeNanoseconds, ordering: .relaxed)
    }

    /// The lower, the earlier it makes room; it may once this is in the past.
    var order: UInt64 { spareFrom.load(ordering: .relaxed) }

    /// It is chosen to make room, and not chosen again.
    func isChosen() {
        spareFrom.store(Self.asked, ordering: .relaxed)
    }

    /// Whether it is on its way out to make room.
    var isLeaving: Bool { order == Self.asked }

    /// Asks it to make room: it does unless a request is under way by then.
    func askForRoom() {
        channel.pipeline.fireUserInboundEventTriggered(ConnectionMakesRoom())
    }
}

/// A connection on which no request is under way is asked to close, since another one waits.
struct ConnectionMakesRoom: Sendable {}

/// What becomes of connections.
struct ConnectionMetrics: Sendable {
    /// Why a connection was refused, or closed for another one.
    enum Refusal: String, CaseIterable {
        /// Its client has as many as it may.
        case clientLimit = "client_limit"
        /// The process has as many files open as it may.
        case descriptors
        /// It was silent longest when another one came at the limit.
        case madeRoom = "made_room"
    }

    let open: Gauge
    let refused: CaseFamily<Refusal, Counter>
    let waited: Counter
    /// Nil where nothing has a deadline.
    let timeouts: CaseFamily<ConnectionPhases.Phase, Counter>?

    init(_ registry: MetricsRegistry) {
        open = registry.gauge("dnp_telemetry_http_connections", help: "Connections that are open.")
        waited = registry.counter(
            "dnp_telemetry_http_connections_waited_total",
            help: "Connections that had to wait, because as many were open as may be."
        )
        refused = registry.counter(
            "dnp_telemetry_http_connections_refused_total",
            help: "Connections that were closed because there were too many, by reason.",
            label: "reason",
            of: Refusal.self
        )
        timeouts = registry.counter(
            "dnp_telemetry_http_timeouts_total",
            help: "Connections that were closed because the client was too slow, by what it was too slow with.",
            label: "phase",
            of: ConnectionPhases.Phase.self
        )
    }

    /// Those of the sockets of lines.
    init(ofLines registry: MetricsRegistry) {
        open = registry.gauge(
            "dnp_telemetry_lines_open_connections",
            help: "Connections to sockets of lines that are open."
        )
        waited = registry.counter(
            "dnp_telemetry_lines_connections_waited_total",
            help: "Connections to sockets of lines that had to wait, because as many were open as may be."
        )
        refused = registry.counter(
            "dnp_telemetry_lines_connections_refused_total",
            help: "Connections to sockets of lines that were closed because there were too many, by reason.",
            label: "reason",
            of: Refusal.self
        )
        timeouts = nil
    }
}

/// How many files and sockets the process may have open (RLIMIT_NOFILE, getrlimit(2)).
enum FileDescriptorLimit {
    /// Raises it to what the process may have at most.
    ///
    /// - Returns: the limit from now on.
    static func raise() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
