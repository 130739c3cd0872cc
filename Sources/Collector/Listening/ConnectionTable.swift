// SPDX-License-Identifier: Apache-2.0

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
