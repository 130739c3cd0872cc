// SPDX-License-Identifier: Apache-2.0

/// Where a listener really listens, and what it answers there.
package struct ListeningAddress: Hashable, Sendable {
    let place: ListeningPlace
    /// What is answered.
    package let services: Listener.Services
    let scheme: String

    init(place: ListeningPlace, services: Listener.Services, scheme: String) {
        self.place = place
        self.services = services
        self.scheme = scheme
    }

    /// `http://127.0.0.1:10910/metrics`, or `unix:/run/http.sock /metrics`, with TLS `https+unix:`. Every address is shown as the loopback's.
    package func url(_ path: String) -> String {
        switch place {
        case .internet: "\(scheme)://\(reachable)\(path)"
        case .unix: (scheme == "https" ? "https+\(place)" : "\(place)") + (path.isEmpty ? "" : " \(path)")
        }
    }

    /// What `curl` is told to get there.
    func curl(_ path: String) -> String {
        switch place {
        case .internet: url(path)
        case .unix(let socket): "--unix-socket \(socket) \(scheme)://localhost\(path)"
        }
    }

    private var reachable: ListeningPlace {
        switch place {
        case .internet("0.0.0.0", let port): .internet(host: "127.0.0.1", port: port)
        case .internet("::", let port): .internet(host: "localhost", port: port)
        default: place
        }
    }
}
