// SPDX-License-Identifier: Apache-2.0

/// Counts open connections, in total and by client, and decides which new ones are admitted. Pure.
///
/// Beyond the limit there are three kinds of places. The reserve is for listeners that serve metrics alone. On other
/// listeners a request is not known before it is read: the connection is admitted to the lobby, where scrapes and health
/// checks are served, and anything else is queued until a connection within the limit has closed.
struct ConnectionAdmission: Sendable {
    /// How many connections may be open, in total and by client.
    struct Limits: Hashable, Sendable {
        var all: Int
        var ofClient: ConnectionShare

        static let none = Limits(all: .max - reserve, ofClient: .all)

        /// How many connections a client may have; nil: any number.
        fileprivate func most(of client: ConnectionClient) -> Int? {
            switch (ofClient, client) {
            case (_, .user), (.half, .loopback), (.all, _): nil
            case (.half, .address): half
            case (.count(let count), _): count
            }
        }

        fileprivate var half: Int { max(1, all / 2) }

        /// The most requests that wait for a place.
        fileprivate var queue: Int { max(4, min(ConnectionAdmission.maximumQueue, all / 4)) }
    }

    enum Decision: Hashable, Sendable {
        case admit
        /// Retry when a connection has closed.
        case wait
        /// This many connections of the same client have to close first.
        case tooManyOfClient(by: Int)
    }

    /// Where an open connection counts.
    enum Place: Hashable, Sendable {
        /// Within the limit, or on the reserve.
        case regular
        case lobby
        case queue
    }

    /// Places beyond the limit for listeners that serve metrics alone, so that clients can't keep a scrape out.
    static let reserve = 16
    /// Places beyond the limit for connections whose request is not known, or is a scrape or a health check.
    static let lobby = 16
    /// The largest number of requests that wait for a place.
    static let maximumQueue = 256

    private(set) var open = 0
    private(set) var inLobby = 0
    private(set) var queued = 0
    private var ofClient: [ConnectionClient: Int] = [:]

    /// - Parameters:
    ///   - client: nil where it is not known.
    ///   - isReserved: whether the listener may use the ``reserve``.
    mutating func enter(_ client: ConnectionClient?, isReserved: Bool, _ limits: Limits) -> Decision {
        if let client, let most = limits.most(of: client), ofClient[client, default: 0] >= most {
            return .tooManyOfClient(by: ofClient[client, default: 0] - most + 1)
        }
        guard open < limits.all + (isReserved ? Self.reserve : 0) else { return .wait }
        admit(client)
        return .admit
    }

    /// Admits a connection regardless of the limits; its evicted predecessor is about to close.
    mutating func admit(_ client: ConnectionClient?) {
        open += 1
        identify(client)
    }

    /// Admits a connection beyond the limit; false if the lobby is full.
    mutating func enterLobby(_ client: ConnectionClient?) -> Bool {
        guard inLobby < Self.lobby else { return false }
        inLobby += 1
        identify(client)
        return true
    }

    /// Moves a connection from the lobby to the queue; false if that is full.
    mutating func enterQueue(_ limits: Limits) -> Bool {
        guard queued < limits.queue else { return false }
        inLobby -= 1
        queued += 1
        return true
    }

    /// Moves a connection from the lobby or the queue to a regular place; false if none is free.
    mutating func promote(from place: Place, _ limits: Limits) -> Bool {
        guard open < limits.all else { return false }
        switch place {
        case .regular: return true
        case .lobby: inLobby -= 1
        case .queue: queued -= 1
        }
        open += 1
        return true
    }

    mutating func leave(_ client: ConnectionClient?, from place: Place = .regular) {
        switch place {
        case .regular: open -= 1
        case .lobby: inLobby -= 1
        case .queue: queued -= 1
        }
        guard let client, let count = ofClient[client] else { return }
        ofClient[client] = count > 1 ? count - 1 : nil
    }

    /// Counts an admitted connection for its client.
    mutating func identify(_ client: ConnectionClient?) {
        if let client { ofClient[client, default: 0] += 1 }
    }

    /// How many connections without progress a client on this machine may hold, if it may have reached that; nil: any
    /// number. Such a client may be a proxy, so those with progress are not limited.
    func stalledLimit(of client: ConnectionClient?, _ limits: Limits) -> Int? {
        guard let client, client.isLocal, limits.ofClient == .half, ofClient[client, default: 0] > limits.half else {
            return nil
        }
        return limits.half
    }

    /// The client that has more than half of all places, if there is one.
    func majority(_ limits: Limits) -> ConnectionClient? {
        ofClient.first { $0.value > limits.half }?.key
    }

    /// The number of open connections.
    var all: Int { open + inLobby + queued }

    /// The number of clients with an open connection.
    var clients: Int { ofClient.count }
}
