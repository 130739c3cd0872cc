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
/// At the limit, the connection that has been without progress for longest is evicted for a new one: idle ones, those
/// that have not sent a whole head, and those whose client stalls a body or a response. If all are busy, new ones wait;
/// see ``ConnectionAdmission`` for the places beyond the limit. At the limit of one client its own connections are evicted
/// in the same order, so that it does not shut out those who share its address.
final class ConnectionTable: Sendable {
    /// The candidates for eviction taken from one scan of all connections.
    private static let candidatesPerScan = 64
    /// How long to wait after a scan that found no candidate: with all connections busy each newcomer would scan again.
    private static let fruitlessScanInterval = TimeAmount.milliseconds(20)
    /// How long a connection in the lobby may send nothing.
    private static let lobbyStay = TimeAmount.milliseconds(250)
    /// Interval of the scans for a client that holds more than its share.
    private static let shareScanInterval = TimeAmount.milliseconds(100)

    private struct Slot {
        let entry: ConnectionEntry
        var client: ConnectionClient?
        var place: ConnectionAdmission.Place
    }

    private struct State {
        var admission = ConnectionAdmission()
        var slots: [ObjectIdentifier: Slot] = [:]
        /// The next to be evicted, the last one first.
        var candidates: [(entry: ConnectionEntry, evictableFrom: UInt64)] = []
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// The connections in the queue, the oldest first.
        var queue: [ObjectIdentifier] = []
        var nextScan = NIODeadline.distantPast
        var nextShareScan = NIODeadline.distantPast

        var hasWaiting: Bool { !waiting.isEmpty || !queue.isEmpty }
    }

    private let state = Mutex(State())
    private let stopping = Atomic(false)
    private let live: LiveConfiguration
    private let descriptors: Int
    private let limitsClients: Bool
    let metrics: ConnectionMetrics

    /// Descriptors of the ledger, the journal, the sources, the threads and the lobby, with some to spare.
    private static let otherDescriptors = 64
    /// Connections that are allowed however few files the process may open.
    private static let minimumConnections = 8

    /// - Parameters:
    ///   - descriptors: how many files and sockets the process may have open.
    ///   - limitsClients: whether there are limits of one client.
    init(_ live: LiveConfiguration, _ metrics: ConnectionMetrics, descriptors: Int, limitsClients: Bool = true) {
        self.live = live
        // The queue is a quarter of the limit at most.
        self.descriptors = max(Self.minimumConnections, (descriptors - Self.otherDescriptors) / 5 * 4)
        self.limitsClients = limitsClients
        self.metrics = metrics
    }

    private var limits: ConnectionAdmission.Limits {
        if isStopping { return .none }
        let current = live.current
        return ConnectionAdmission.Limits(
            all: min(current.maximumConnections, descriptors),
            ofClient: limitsClients ? current.maximumConnectionsPerClient : .all
        )
    }

    /// Admits a connection if the limits allow it, evicting others of its client if that makes it possible.
    ///
    /// - Parameter mayUseLobby: whether it is admitted to the lobby where no regular place is free.
    func enter(
        _ channel: any Channel,
        isReserved: Bool,
        mayUseLobby: Bool = false,
        at now: NIODeadline
    ) -> (ConnectionAdmission.Decision, ConnectionAdmission.Place) {
        let client = ConnectionClient(channel.remoteAddress)
        let limits = limits
        let (decision, place, evicted) = state.withLock { state in
            var place = ConnectionAdmission.Place.regular
            var evicted: [ConnectionEntry] = []
            var decision = state.admission.enter(client, isReserved: isReserved, limits)
            if case .tooManyOfClient(let excess) = decision,
                let chosen = Self.evictable(excess, of: client, state, now)
            {
                evicted = chosen
                state.admission.admit(client)
                decision = .admit
            } else if decision == .wait, mayUseLobby, state.admission.enterLobby(client) {
                (decision, place) = (.admit, .lobby)
            }
            if decision == .admit {
                let entry = ConnectionEntry(channel, isBeyondLimit: place != .regular, at: now)
                state.slots[ObjectIdentifier(channel)] = Slot(entry: entry, client: client, place: place)
                metrics.open.set(state.admission.all)
            }
            evicted += Self.stalled(beyondShareOf: client, &state, limits, now)
            return (decision, place, evicted)
        }
        for entry in evicted { entry.requestEviction() }
        return (decision, place)
    }

    /// Names the client of a connection over a Unix socket, which can't be asked for when it is accepted.
    ///
    /// Called on the event loop of the connection.
    func identifyPeer(of channel: any Channel) throws {
        guard channel.remoteAddress?.ipAddress == nil else { return }
        let client = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            ConnectionClient(peerOf: $0)
        }
        guard let client = client ?? nil else { return }
        let (limits, now) = (limits, NIODeadline.now())
        let evicted = state.withLock { state in
            guard state.slots[ObjectIdentifier(channel)]?.client == nil,
                state.slots[ObjectIdentifier(channel)] != nil
            else { return [ConnectionEntry]() }
            state.slots[ObjectIdentifier(channel)]?.client = client
            state.admission.identify(client)
            return Self.stalled(beyondShareOf: client, &state, limits, now)
        }
        for entry in evicted { entry.requestEviction() }
    }

    /// Marks the client's longest idle connections for eviction, counting those that are evicted already.
    ///
    /// - Returns: nil if too few are idle.
    private static func evictable(
        _ count: Int,
        of client: ConnectionClient?,
        _ state: State,
        _ now: NIODeadline
    ) -> [ConnectionEntry]? {
        let own = state.slots.values.filter { $0.client == client }.map(\.entry)
        let missing = max(0, count - own.count(where: \.isEvicted))
        let chosen = leastProgress(own, now, limit: missing)
        guard chosen.count == missing else { return nil }
        for entry in chosen { entry.markEvicted() }
        return chosen
    }

    /// Marks for eviction what a client on this machine stalls beyond its share.
    private static func stalled(
        beyondShareOf client: ConnectionClient?,
        _ state: inout State,
        _ limits: ConnectionAdmission.Limits,
        _ now: NIODeadline
    ) -> [ConnectionEntry] {
        guard let most = state.admission.stalledLimit(of: client, limits), now >= state.nextShareScan else { return [] }
        state.nextShareScan = now + shareScanInterval
        let stalled = state.slots.values.filter { $0.client == client && $0.entry.mayStall(at: now) }.map(\.entry)
        guard stalled.count > most else { return [] }
        let chosen = leastProgress(stalled, now, limit: stalled.count - most)
        for entry in chosen { entry.markEvicted() }
        return chosen
    }

    /// The evictable ones of some connections, those longest without progress first.
    private static func leastProgress(
        _ entries: [ConnectionEntry],
        _ now: NIODeadline,
        limit: Int
    ) -> [ConnectionEntry] {
        entries.map { (entry: $0, evictableFrom: $0.evictableFrom) }
            .filter { $0.evictableFrom <= now.uptimeNanoseconds }
            .sorted { $0.evictableFrom < $1.evictableFrom }
            .prefix(limit)
            .map(\.entry)
    }

    /// The entry of an admitted connection.
    func entry(of channel: any Channel) -> ConnectionEntry? {
        state.withLock { $0.slots[ObjectIdentifier(channel)]?.entry }
    }

    /// Removes a closed connection, gives its place to the oldest in the queue, and wakes the gates that wait.
    func leave(_ channel: any Channel) {
        let limits = limits
        let (promoted, waiting) = state.withLock { state in
            guard let slot = state.slots.removeValue(forKey: ObjectIdentifier(channel)) else {
                return ([ConnectionEntry](), [@Sendable () -> Void]())
            }
            state.admission.leave(slot.client, from: slot.place)
            if slot.place == .queue { state.queue.removeAll { $0 == ObjectIdentifier(channel) } }
            let promoted = Self.promote(&state, limits)
            metrics.open.set(state.admission.all)
            defer { state.waiting.removeAll() }
            return (promoted, Array(state.waiting.values))
        }
        for entry in promoted { entry.grantPlace() }
        for wake in waiting { wake() }
    }

    /// Calls `wake` once when a connection has closed.
    func wait(_ gate: ObjectIdentifier, _ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting[gate] = wake }
    }

    /// Evicts the connection that has been without progress for longest, if there is one. One of a client that has more
    /// than half of all places comes first, so that it can't displace others.
    func evictOne(at now: NIODeadline) {
        evict(1, at: now)
    }

    /// Evicts as many connections in the same order, as far as there are so many.
    func evict(_ count: Int, at now: NIODeadline) {
        let limits = limits
        let chosen = state.withLock { state in
            var chosen: [ConnectionEntry] = []
            while chosen.count < count {
                if state.candidates.isEmpty { Self.scan(&state, limits, now) }
                guard !state.candidates.isEmpty else { break }
                if let entry = Self.nextCandidate(&state) { chosen.append(entry) }
            }
            return chosen
        }
        for entry in chosen { entry.requestEviction() }
    }

    /// Looks for candidates, unless none were found a moment ago.
    private static func scan(_ state: inout State, _ limits: ConnectionAdmission.Limits, _ now: NIODeadline) {
        guard now >= state.nextScan else { return }
        let idle = Self.idle(state, majority: state.admission.majority(limits), now)
        state.candidates = Array(idle.prefix(candidatesPerScan).reversed())
        if idle.isEmpty { state.nextScan = now + fruitlessScanInterval }
    }

    /// The evictable connections in the order of their eviction.
    private static func idle(
        _ state: State,
        majority: ConnectionClient?,
        _ now: NIODeadline
    ) -> [(entry: ConnectionEntry, evictableFrom: UInt64)] {
        var ofMajority: [(entry: ConnectionEntry, evictableFrom: UInt64)] = []
        var ofOthers: [(entry: ConnectionEntry, evictableFrom: UInt64)] = []
        let isLobbyFull = state.admission.inLobby >= ConnectionAdmission.lobby
        for slot in state.slots.values {
            let evictableFrom = slot.entry.evictableFrom
            // A connection in the lobby gives its place to another one there only, and not before its head was read.
            if slot.place != .regular {
                guard isLobbyFull, evictableFrom <= (now - lobbyStay).uptimeNanoseconds else { continue }
            }
            guard evictableFrom <= now.uptimeNanoseconds else { continue }
            if majority != nil, slot.client == majority {
                ofMajority.append((entry: slot.entry, evictableFrom: evictableFrom))
            } else {
                ofOthers.append((entry: slot.entry, evictableFrom: evictableFrom))
            }
        }
        ofMajority.sort { $0.evictableFrom < $1.evictableFrom }
        ofOthers.sort { $0.evictableFrom < $1.evictableFrom }
        return ofMajority + ofOthers
    }

    /// Evicts another connection in place of one that has made progress meanwhile, if a connection waits for it.
    func evictAnother(at now: NIODeadline) {
        if state.withLock({ $0.hasWaiting }) { evictOne(at: now) }
    }

    /// Takes the next candidate that has had no request since the scan, and marks it as evicted.
    private static func nextCandidate(_ state: inout State) -> ConnectionEntry? {
        while let (entry, evictableFrom) = state.candidates.popLast() {
            guard entry.evictableFrom == evictableFrom,
                state.slots[ObjectIdentifier(entry.channel)]?.entry === entry
            else { continue }
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
    var hasStarting: Bool { state.withLock { $0.slots.values.contains(where: \.entry.isStarting) } }

    /// The open connections.
    var all: [any Channel] { state.withLock { $0.slots.values.map(\.entry.channel) } }
}

// MARK: The queue

extension ConnectionTable {
    /// What becomes of a request that needs a regular place.
    enum Claim: Hashable, Sendable {
        case granted
        /// A ``PlaceGranted`` follows.
        case queued
        /// The queue is full.
        case refused
    }

    /// Asks for a regular place for a connection, which may have one already.
    func claim(_ channel: any Channel, at now: NIODeadline) -> Claim {
        let limits = limits
        let (claim, waiting) = state.withLock { state -> (Claim, [@Sendable () -> Void]) in
            let id = ObjectIdentifier(channel)
            guard let place = state.slots[id]?.place, place != .regular else { return (.granted, []) }
            let claim = Self.claim(id, from: place, &state, limits)
            guard claim != .refused else { return (claim, []) }
            // The lobby has a place.
            defer { state.waiting.removeAll() }
            return (claim, Array(state.waiting.values))
        }
        for wake in waiting { wake() }
        if claim == .queued { evictOne(at: now) }
        return claim
    }

    private static func claim(
        _ id: ObjectIdentifier,
        from place: ConnectionAdmission.Place,
        _ state: inout State,
        _ limits: ConnectionAdmission.Limits
    ) -> Claim {
        if state.queue.isEmpty, state.admission.promote(from: place, limits) {
            state.slots[id]?.place = .regular
            state.slots[id]?.entry.takePlace()
            return .granted
        }
        guard place == .lobby, state.admission.enterQueue(limits) else { return .refused }
        state.slots[id]?.place = .queue
        state.queue.append(id)
        return .queued
    }

    /// Whether connections are open beyond the limit.
    var isCrowded: Bool { state.withLock { $0.admission.inLobby + $0.admission.queued > 0 } }

    /// Gives free places to the queue, and evicts a connection for each request that still waits.
    func relieveQueue(at now: NIODeadline) {
        let limits = limits
        let (promoted, left) = state.withLock { state in (Self.promote(&state, limits), state.queue.count) }
        for entry in promoted { entry.grantPlace() }
        if left > 0 { evict(left, at: now) }
    }

    /// Gives free places to the oldest in the queue.
    private static func promote(_ state: inout State, _ limits: ConnectionAdmission.Limits) -> [ConnectionEntry] {
        var promoted: [ConnectionEntry] = []
        while let id = state.queue.first, state.admission.promote(from: .queue, limits) {
            state.queue.removeFirst()
            state.slots[id]?.place = .regular
            guard let entry = state.slots[id]?.entry else { continue }
            entry.takePlace()
            promoted.append(entry)
        }
        return promoted
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

    /// Nanoseconds of the monotonic clock, or ``busy`` or ``evicted``.
    private let state: Atomic<UInt64>
    private let begun = Atomic(false)
    /// Whether a body or a response is being transferred.
    private let transfers = Atomic(false)
    private let beyondLimit: Atomic<Bool>

    fileprivate init(_ channel: any Channel, isBeyondLimit: Bool, at now: NIODeadline) {
        self.channel = channel
        beyondLimit = Atomic(isBeyondLimit)
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
        transfers.store(false, ordering: .relaxed)
        state.store(Self.busy, ordering: .relaxed)
    }

    /// Notes that no request is under way.
    func becomeIdle(at now: NIODeadline) {
        transfers.store(false, ordering: .relaxed)
        state.store((now + Self.keepAlive).uptimeNanoseconds, ordering: .relaxed)
    }

    /// Notes that a client sends a body or reads a response, and can stall from a time on. Whether it does is asked by
    /// requesting its eviction, so that its bytes need not be noted here.
    func transfer(until mayStall: NIODeadline) {
        transfers.store(true, ordering: .relaxed)
        state.store(mayStall.uptimeNanoseconds, ordering: .relaxed)
    }

    /// Whether its client may stall a body or a response.
    fileprivate func mayStall(at now: NIODeadline) -> Bool {
        transfers.load(ordering: .relaxed) && evictableFrom <= now.uptimeNanoseconds
    }

    /// From when it can be evicted, in nanoseconds of the monotonic clock; the least is evicted first.
    fileprivate var evictableFrom: UInt64 { state.load(ordering: .relaxed) }

    /// Marks it as evicted, so that it is not chosen again.
    fileprivate func markEvicted() {
        state.store(Self.evicted, ordering: .relaxed)
    }

    /// Whether its eviction was requested.
    var isEvicted: Bool { evictableFrom == Self.evicted }

    /// Asks the connection to close; it does unless a request is under way by then that the client does not stall.
    func requestEviction() {
        channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
    }

    /// Whether it is admitted beyond the limit, see ``ConnectionTable/claim(_:at:)``.
    var isBeyondLimit: Bool { beyondLimit.load(ordering: .relaxed) }

    fileprivate func takePlace() {
        beyondLimit.store(false, ordering: .relaxed)
    }

    fileprivate func grantPlace() {
        channel.pipeline.fireUserInboundEventTriggered(PlaceGranted())
    }
}

/// A user event for a connection: close if no request is under way or the client stalls it, since another connection
/// waits.
struct ConnectionEviction: Sendable {}

/// A user event for a connection in the queue: it has a regular place.
struct PlaceGranted: Sendable {}

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
