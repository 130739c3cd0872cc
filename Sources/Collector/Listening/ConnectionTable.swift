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
/// At the limit, the connection that has been idle for longest is evicted for a new one; if all are busy, new ones
/// wait. So neither idle clients nor those that send half a request, or nothing, keep others out. At the limit of one
/// client its own connections are evicted in the same order, so that it does not shut out those who share its address.
final class ConnectionTable: Sendable {
    /// The candidates for eviction taken from one scan of all connections.
    private static let candidatesPerScan = 64

    private struct State {
        var admission = ConnectionAdmission()
        var entries: [ObjectIdentifier: ConnectionEntry] = [:]
        /// The next to be evicted, the last one first.
        var candidates: [(entry: ConnectionEntry, evictableFrom: UInt64)] = []
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    private let stopping = Atomic(false)
    private let live: LiveConfiguration
    private let descriptors: Int
    let metrics: ConnectionMetrics

    /// Descriptors of the ledger, the journal, the sources and the threads, with some to spare.
    private static let otherDescriptors = 64
    /// Connections that are allowed however few files the process may open.
    private static let minimumConnections = 8

    /// - Parameter descriptors: how many files and sockets the process may have open.
    init(_ live: LiveConfiguration, _ metrics: ConnectionMetrics, descriptors: Int) {
        self.live = live
        self.descriptors = max(Self.minimumConnections, descriptors - Self.otherDescriptors)
        self.metrics = metrics
    }

    /// Admits a connection if the limits allow it, evicting others of its client if that makes it possible.
    func enter(_ channel: any Channel, isReserved: Bool, at now: NIODeadline) -> ConnectionAdmission.Decision {
        let client = ClientAddress(channel.remoteAddress)
        var limits = live.connectionLimits
        limits.all = min(limits.all, descriptors)
        let (decision, evicted) = state.withLock { state in
            var decision = state.admission.enter(client, isReserved: isReserved, isStopping ? .none : limits)
            var evicted: [ConnectionEntry] = []
            if case .tooManyOfClient(let excess) = decision,
                let chosen = Self.evictable(excess, of: client, state, now)
            {
                evicted = chosen
                state.admission.admit(client)
                decision = .admit
            }
            if decision == .admit {
                state.entries[ObjectIdentifier(channel)] = ConnectionEntry(channel, client: client, at: now)
                metrics.open.set(state.admission.open)
            }
            return (decision, evicted)
        }
        for entry in evicted { evict(entry) }
        return decision
    }

    /// Marks the client's longest idle connections for eviction, counting those that are evicted already.
    ///
    /// - Returns: nil if too few are idle.
    private static func evictable(
        _ count: Int,
        of client: ClientAddress?,
        _ state: State,
        _ now: NIODeadline
    ) -> [ConnectionEntry]? {
        let own = state.entries.values.filter { $0.client == client }
        let missing = max(0, count - own.count(where: \.isEvicted))
        let chosen = own.map { (entry: $0, evictableFrom: $0.evictableFrom) }
            .filter { $0.evictableFrom <= now.uptimeNanoseconds }
            .sorted { $0.evictableFrom < $1.evictableFrom }
            .prefix(missing)
            .map(\.entry)
        guard chosen.count == missing else { return nil }
        for entry in chosen { entry.markEvicted() }
        return chosen
    }

    /// The entry of an admitted connection.
    func entry(of channel: any Channel) -> ConnectionEntry? {
        state.withLock { $0.entries[ObjectIdentifier(channel)] }
    }

    /// Removes a closed connection and wakes the gates that wait.
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

    /// Calls `wake` once when a connection has closed.
    func wait(_ gate: ObjectIdentifier, _ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting[gate] = wake }
    }

    /// Evicts the connection that has been idle for longest, if one is idle.
    func evictOne(at now: NIODeadline) {
        let chosen = state.withLock { state -> ConnectionEntry? in
            if let entry = Self.nextCandidate(&state) { return entry }
            let idle = state.entries.values.map { (entry: $0, evictableFrom: $0.evictableFrom) }
                .filter { $0.evictableFrom <= now.uptimeNanoseconds }
            state.candidates = idle.sorted { $0.evictableFrom < $1.evictableFrom }.prefix(Self.candidatesPerScan)
                .reversed()
            return Self.nextCandidate(&state)
        }
        if let chosen { evict(chosen) }
    }

    private func evict(_ entry: ConnectionEntry) {
        metrics.refused[.evicted].add()
        entry.requestEviction()
    }

    /// Takes the next candidate that has had no request since the scan, and marks it as evicted.
    private static func nextCandidate(_ state: inout State) -> ConnectionEntry? {
        while let (entry, evictableFrom) = state.candidates.popLast() {
            guard entry.evictableFrom == evictableFrom, state.entries[ObjectIdentifier(entry.channel)] === entry else {
                continue
            }
            entry.markEvicted()
            return entry
        }
        return nil
    }

    /// Marks the service as stopping: limits no longer apply, so that each accepted connection is answered.
    func stop() {
        stopping.store(true, ordering: .relaxed)
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Whether an admitted connection is not read from yet.
    var hasStarting: Bool { state.withLock { $0.entries.values.contains(where: \.isStarting) } }

    /// The open connections.
    var all: [any Channel] { state.withLock { $0.entries.values.map(\.channel) } }
}

extension LiveConfiguration {
    fileprivate var connectionLimits: ConnectionAdmission.Limits {
        let current = current
        return ConnectionAdmission.Limits(
            all: current.maximumConnections,
            ofClient: current.maximumConnectionsPerClient
        )
    }
}

/// An open connection, with what decides about its eviction.
final class ConnectionEntry: Sendable {
    /// A connection that has just got its response is expected to go on; it can be evicted after this much idle time.
    private static let keepAlive = TimeAmount.seconds(1)
    /// In place of a time: a request is under way.
    private static let busy = UInt64.max
    /// In place of a time: eviction was requested.
    private static let evicted = UInt64.max - 1

    let channel: any Channel
    let client: ClientAddress?

    /// Nanoseconds of the monotonic clock, or ``busy`` or ``evicted``.
    private let state: Atomic<UInt64>
    private let begun = Atomic(false)

    init(_ channel: any Channel, client: ClientAddress?, at now: NIODeadline) {
        self.channel = channel
        self.client = client
        state = Atomic(now.uptimeNanoseconds)
    }

    /// Marks the connection as read from.
    func begin() {
        begun.store(true, ordering: .relaxed)
    }

    /// Whether it is accepted and not read from yet.
    fileprivate var isStarting: Bool { !begun.load(ordering: .relaxed) }

    /// Notes the first byte of a request. It can be evicted until the head is complete, after those that began before.
    func beginHead(at now: NIODeadline) {
        if evictableFrom < now.uptimeNanoseconds { state.store(now.uptimeNanoseconds, ordering: .relaxed) }
    }

    /// Notes that a request is under way.
    func becomeBusy() {
        state.store(Self.busy, ordering: .relaxed)
    }

    /// Notes that no request is under way.
    func becomeIdle(at now: NIODeadline) {
        state.store((now + Self.keepAlive).uptimeNanoseconds, ordering: .relaxed)
    }

    /// From when it can be evicted, in nanoseconds of the monotonic clock; the least is evicted first.
    fileprivate var evictableFrom: UInt64 { state.load(ordering: .relaxed) }

    /// Marks it as evicted, so that it is not chosen again.
    fileprivate func markEvicted() {
        state.store(Self.evicted, ordering: .relaxed)
    }

    /// Whether its eviction was requested.
    var isEvicted: Bool { evictableFrom == Self.evicted }

    /// Asks the connection to close; it does unless a request is under way by then.
    func requestEviction() {
        channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
    }
}

/// A user event for a connection: close if no request is under way, since another connection waits.
struct ConnectionEviction: Sendable {}

/// Counts admitted, waiting and refused connections; each kind of listener registers its own names.
struct ConnectionMetrics: Sendable {
    /// Why a connection was refused, or evicted.
    enum Refusal: String, CaseIterable {
        /// Its client has as many connections as it may.
        case clientLimit = "client_limit"
        /// The process has reached its limit of open files.
        case descriptors
        /// It was idle for longest when another one came at the limit.
        case evicted = "made_room"
    }

    let open: Gauge
    let waited: Counter
    let refused: CaseFamily<Refusal, Counter>
}

/// The limit of open files and sockets of the process (RLIMIT_NOFILE, getrlimit(2)).
enum FileDescriptorLimit {
    /// Raises the soft limit to the hard limit.
    ///
    /// - Returns: the limit in force.
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
