// SPDX-License-Identifier: Apache-2.0

/// Counts open connections, in total and by client, and decides which new ones are admitted. Pure.
struct ConnectionAdmission: Sendable {
    /// How many connections may be open, in total and by client.
    struct Limits: Hashable, Sendable {
        var all: Int
        var ofClient: ConnectionShare

        static let none = Limits(all: .max - reserve, ofClient: .all)

        /// How many connections a client may have; nil: any number.
        fileprivate func most(of client: ClientAddress) -> Int? {
            switch ofClient {
            case .half: client.isLoopback ? nil : max(1, all / 2)
            case .count(let count): count
            case .all: nil
            }
        }
    }

    enum Decision: Hashable, Sendable {
        case admit
        /// Retry when a connection has closed.
        case wait
        /// This many connections of the same client have to close first.
        case tooManyOfClient(by: Int)
    }

    /// Places beyond the limit for listeners that serve metrics alone, so that clients can't keep a scrape out.
    static let reserve = 16

    private(set) var open = 0
    private var ofClient: [ClientAddress: Int] = [:]

    /// - Parameters:
    ///   - client: nil where no client limit applies, as on Unix sockets.
    ///   - isReserved: whether the listener may use the ``reserve``.
    mutating func enter(_ client: ClientAddress?, isReserved: Bool, _ limits: Limits) -> Decision {
        if let client, let most = limits.most(of: client), ofClient[client, default: 0] >= most {
            return .tooManyOfClient(by: ofClient[client, default: 0] - most + 1)
        }
        guard open < limits.all + (isReserved ? Self.reserve : 0) else { return .wait }
        admit(client)
        return .admit
    }

    /// Admits a connection regardless of the limits; its evicted predecessor is about to close.
    mutating func admit(_ client: ClientAddress?) {
        open += 1
        if let client { ofClient[client, default: 0] += 1 }
    }

    mutating func leave(_ client: ClientAddress?) {
        open -= 1
        guard let client, let count = ofClient[client] else { return }
        ofClient[client] = count > 1 ? count - 1 : nil
    }

    /// The number of clients with an open connection.
    var clients: Int { ofClient.count }
}
