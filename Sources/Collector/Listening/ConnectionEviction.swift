// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// Chooses which open connections are evicted for others: idle ones, those that have not sent a whole head, and those
/// whose client stalls a body or a response; those longest without progress first.
///
/// What it chooses is marked as evicted, and asked to close by ``ConnectionEntry/requestEviction()``.
struct EvictionOrder {
    /// The candidates taken from one scan of all connections.
    private static let candidatesPerScan = 64
    /// How long to wait after a scan that found no candidate: with all connections busy each newcomer would scan again.
    private static let fruitlessScanInterval = TimeAmount.milliseconds(20)
    /// How long a connection in the lobby may send nothing.
    private static let lobbyStay = TimeAmount.milliseconds(250)
    /// Interval of the scans for a client that holds more than its share.
    private static let shareScanInterval = TimeAmount.milliseconds(100)

    typealias Slots = [ObjectIdentifier: ConnectionSlot]
    private typealias Candidate = (entry: ConnectionEntry, evictableFrom: UInt64)

    /// The next to be evicted, the last one first.
    private var candidates: [Candidate] = []
    private var nextScan = NIODeadline.distantPast
    private var nextShareScan = NIODeadline.distantPast

    /// Takes the next connections, as far as there are so many. Those of a client that has more than half of all places
    /// come first, so that it can't displace others.
    mutating func next(
        _ count: Int,
        in slots: Slots,
        _ admission: ConnectionAdmission,
        _ limits: ConnectionAdmission.Limits,
        at now: NIODeadline
    ) -> [ConnectionEntry] {
        var chosen: [ConnectionEntry] = []
        while chosen.count < count {
            if candidates.isEmpty { scan(slots, admission, limits, now) }
            guard !candidates.isEmpty else { break }
            if let entry = nextCandidate(in: slots) { chosen.append(entry) }
        }
        return chosen
    }

    /// Takes a client's longest idle connections, counting those that are evicted already.
    ///
    /// - Returns: nil if too few are idle.
    static func idlest(
        _ count: Int,
        of client: ConnectionClient?,
        in slots: Slots,
        at now: NIODeadline
    ) -> [ConnectionEntry]? {
        let own = slots.values.filter { $0.client == client }.map(\.entry)
        let missing = max(0, count - own.count(where: \.isEvicted))
        let chosen = leastProgress(own, now, limit: missing)
        guard chosen.count == missing else { return nil }
        for entry in chosen { entry.markEvicted() }
        return chosen
    }

    /// Takes those that a client may stall beyond a number.
    mutating func stalled(
        beyond most: Int,
        of client: ConnectionClient?,
        in slots: Slots,
        at now: NIODeadline
    ) -> [ConnectionEntry] {
        guard now >= nextShareScan else { return [] }
        nextShareScan = now + Self.shareScanInterval
        let stalled = slots.values.filter { $0.client == client && $0.entry.mayStall(at: now) }.map(\.entry)
        guard stalled.count > most else { return [] }
        let chosen = Self.leastProgress(stalled, now, limit: stalled.count - most)
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

    /// Looks for candidates, unless none were found a moment ago.
    private mutating func scan(
        _ slots: Slots,
        _ admission: ConnectionAdmission,
        _ limits: ConnectionAdmission.Limits,
        _ now: NIODeadline
    ) {
        guard now >= nextScan else { return }
        let isLobbyFull = admission.inLobby >= ConnectionAdmission.lobby
        let idle = Self.idle(slots, majority: admission.majority(limits), isLobbyFull: isLobbyFull, now)
        candidates = Array(idle.prefix(Self.candidatesPerScan).reversed())
        if idle.isEmpty { nextScan = now + Self.fruitlessScanInterval }
    }

    /// The evictable connections in the order of their eviction.
    private static func idle(
        _ slots: Slots,
        majority: ConnectionClient?,
        isLobbyFull: Bool,
        _ now: NIODeadline
    ) -> [Candidate] {
        var ofMajority: [Candidate] = []
        var ofOthers: [Candidate] = []
        for slot in slots.values {
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

    /// Takes the next candidate that has had no request since the scan, and marks it as evicted.
    private mutating func nextCandidate(in slots: Slots) -> ConnectionEntry? {
        while let (entry, evictableFrom) = candidates.popLast() {
            guard entry.evictableFrom == evictableFrom, slots[ObjectIdentifier(entry.channel)]?.entry === entry
            else { continue }
            entry.markEvicted()
            return entry
        }
        return nil
    }
}

/// An open connection in the table: whose it is, and where it counts.
struct ConnectionSlot {
    let entry: ConnectionEntry
    var client: ConnectionClient?
    var place: ConnectionAdmission.Place
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

    init(_ channel: any Channel, isBeyondLimit: Bool, at now: NIODeadline) {
        self.channel = channel
        beyondLimit = Atomic(isBeyondLimit)
        state = Atomic(now.uptimeNanoseconds)
    }

    /// Marks the connection as read from.
    func begin() {
        begun.store(true, ordering: .relaxed)
    }

    /// Whether it is accepted and not read from yet.
    var isStarting: Bool { !begun.load(ordering: .relaxed) }

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
    func mayStall(at now: NIODeadline) -> Bool {
        transfers.load(ordering: .relaxed) && evictableFrom <= now.uptimeNanoseconds
    }

    /// From when it can be evicted, in nanoseconds of the monotonic clock; the least is evicted first.
    var evictableFrom: UInt64 { state.load(ordering: .relaxed) }

    /// Marks it as evicted, so that it is not chosen again.
    func markEvicted() {
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

    func takePlace() {
        beyondLimit.store(false, ordering: .relaxed)
    }

    func grantPlace() {
        channel.pipeline.fireUserInboundEventTriggered(PlaceGranted())
    }
}

/// A user event for a connection: close if no request is under way or the client stalls it, since another connection
/// waits.
struct ConnectionEviction: Sendable {}

/// A user event for a connection in the queue: it has a regular place.
struct PlaceGranted: Sendable {}
