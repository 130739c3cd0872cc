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
/// At the limit, the connection that has been without progress for longest is evicted for a new one (``EvictionOrder``).
/// If all are busy, new ones wait; see ``ConnectionAdmission`` for the places beyond the limit. At the limit of one client
/// its own connections are evicted in the same order, so that it does not shut out those who share its address.
final class ConnectionTable: Sendable {
    private struct State {
        var admission = ConnectionAdmission()
        var slots: [ObjectIdentifier: ConnectionSlot] = [:]
        var eviction = EvictionOrder()
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// The connections in the queue, the oldest first.
        var queue: [ObjectIdentifier] = []

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
                let chosen = EvictionOrder.idlest(excess, of: client, in: state.slots, at: now)
            {
                evicted = chosen
                state.admission.admit(client)
                decision = .admit
            } else if decision == .wait, mayUseLobby, state.admission.enterLobby(client) {
                (decision, place) = (.admit, .lobby)
            }
            if decision == .admit {
                let entry = ConnectionEntry(channel, isBeyondLimit: place != .regular, at: now)
                state.slots[ObjectIdentifier(channel)] = ConnectionSlot(entry: entry, client: client, place: place)
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

    /// Marks for eviction what a client on this machine stalls beyond its share.
    private static func stalled(
        beyondShareOf client: ConnectionClient?,
        _ state: inout State,
        _ limits: ConnectionAdmission.Limits,
        _ now: NIODeadline
    ) -> [ConnectionEntry] {
        guard let most = state.admission.stalledLimit(of: client, limits) else { return [] }
        return state.eviction.stalled(beyond: most, of: client, in: state.slots, at: now)
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
            state.eviction.next(count, in: state.slots, state.admission, limits, at: now)
        }
        for entry in chosen { entry.requestEviction() }
    }

    /// Evicts another connection in place of one that has made progress meanwhile, if a connection waits for it.
    func evictAnother(at now: NIODeadline) {
        if state.withLock({ $0.hasWaiting }) { evictOne(at: now) }
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
