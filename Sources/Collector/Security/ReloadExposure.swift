// SPDX-License-Identifier: Apache-2.0

internal import PeerNames

/// Whether anybody from elsewhere may ask for a reload.
enum ReloadExposure {
    /// A listener: what it answers, and where it is, if that is known.
    struct Place {
        let services: Listener.Services
        let place: ListeningPlace?

        init(_ services: Listener.Services, _ place: ListeningPlace?) {
            self.services = services
            self.place = place
        }
    }

    /// What to tell the operator; nil where reloads are off, or only who is on this machine or is known may ask for one.
    static func warning(_ configuration: ServeConfiguration, _ places: [Place], _ rules: SecurityRules) -> String? {
        guard configuration.hasReloadEndpoint, rules.web.users.isEmpty, !rules.asksForKnownCertificate else {
            return nil
        }
        let open = places.first { $0.services.contains(.metrics) && !($0.place?.isLocal ?? true) }
        guard let place = open?.place else { return nil }
        return
            "everybody who reaches \(place) may ask for a reload: let reloads be asked for on the loopback or a Unix "
            + "socket, or name users or client_auth_type RequireAndVerifyClientCert in the web configuration"
    }
}

extension ListeningPlace {
    /// Whether nobody but this machine reaches it.
    fileprivate var isLocal: Bool {
        switch self {
        case .internet(let host, _): LocalHost.isLoopback(host)
        case .unix: true
        }
    }
}

extension SecurityRules {
    fileprivate var asksForKnownCertificate: Bool { web.tls?.clientAuthentication == .requiredAndVerified }
}
