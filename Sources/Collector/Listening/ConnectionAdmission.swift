// SPDX-License-Identifier: Apache-2.0

/// How many connections are open, in all and of each client: who may come in. Pure; no connection is known to it.
struct ConnectionAdmission: Sendable {
    /// How many may be open.
    struct Limits: Hashable, Sendable {
        var all: Int
        var ofClient: ConnectionShare

        static let none = Limits(all: .max - reserve, ofClient: .all)

        /// How many of one client may be open; nil: any number.
        fileprivate func most(of client: ClientAddress) -> Int? {
            switch ofClient {
            case .half: client.isLoopback ? nil : max(1, all / 2)
            case .count(let count): count
            case .all: nil
            }
        }
    }

    enum Decision: Hashable, Sendable {
        case comeIn
        /// Until another one has gone.
        case wait
        /// So many of its own client's have to go first.
        case tooManyOfClient(by: Int)
    }

    /// How many more may come over listeners that serve nothing but metrics.
    static let reserve = 16

    private(set) var open = 0
    private var ofClient: [ClientAddress: Int] = [:]

    /// - Parameters:
    ///   - client: nil where clients are not told apart, as on Unix sockets.
    ///   - isReserved: whether the listener serves nothing but metrics.
    mutating func enter(_ client: ClientAddress?, isReserved: Bool, _ limits: Limits) -> Decision {
        if let client, let most = limits.most(of: client), ofClient[client, default: 0] >= most {
            return .tooManyOfClient(by: ofClient[client, default: 0] - most + 1)
        }
        guard open < limits.all + (isReserved ? Self.reserve : 0) else { return .wait }
        comeIn(client)
        return .comeIn
    }

    /// Lets one in whatever the limits, in the place of another that is on its way out.
    mutating func comeIn(_ client: ClientAddress?) {
        open += 1
        if let client { ofClient[client, default: 0] += 1 }
    }

    mutating func leave(_ client: ClientAddress?) {
        open -= 1
        guard let client, let count = ofClient[client] else { return }
        ofClient[client] = count > 1 ? count - 1 : nil
    }

    /// How many clients have a connection.
    var clients: Int { ofClient.count }
}
