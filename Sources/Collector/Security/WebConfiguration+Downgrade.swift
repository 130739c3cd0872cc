// SPDX-License-Identifier: Apache-2.0

extension WebConfiguration {
    /// What keeps another configuration from taking this one's place while the service runs: it would let in whom this
    /// one keeps out. Nil where nothing does.
    ///
    /// A slip of the pen opens no door so; who means it restarts the service.
    func complaint(aboutChangeTo next: WebConfiguration) -> String? {
        if let tls {
            guard let other = next.tls else {
                return "expected tls_server_config, found none; TLS is switched off by a restart only"
            }
            if let complaint = tls.complaint(aboutChangeTo: other) { return complaint }
        }
        guard users.isEmpty || !next.users.isEmpty else {
            return "expected basic_auth_users, found none; the last user is taken away by a restart only"
        }
        return nil
    }
}

extension TLSSettings {
    fileprivate func complaint(aboutChangeTo next: TLSSettings) -> String? {
        guard next.clientAuthentication.strictness >= clientAuthentication.strictness else {
            return "client_auth_type: expected \(clientAuthentication.rawValue) as before, found "
                + "\(next.clientAuthentication.rawValue); less is asked of clients after a restart only"
        }
        guard allowedNames == nil || next.allowedNames != nil else {
            return "client_allowed_sans: expected names, found none; any name is taken after a restart only"
        }
        guard clientAuthentication != .requiredAndVerified || clientAuthorities == nil || next.clientAuthorities != nil
        else {
            return
                "client_ca_file: expected the authorities of clients, found none; those of the system are taken after "
                + "a restart only"
        }
        return nil
    }
}

extension TLSSettings.ClientAuthentication {
    /// How much a client must have to come in.
    fileprivate var strictness: Int {
        switch self {
        case .none, .requested, .verifiedIfGiven: 0
        case .required: 1
        case .requiredAndVerified: 2
        }
    }
}
