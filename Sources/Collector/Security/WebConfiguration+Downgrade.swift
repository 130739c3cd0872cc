// SPDX-License-Identifier: Apache-2.0

extension WebConfiguration {
    /// Why a reload refuses another configuration: it would admit clients that this one refuses. Nil if it would not.
    ///
    /// A mistake in the file thus weakens nothing; a deliberate downgrade takes a restart.
    func downgrade(to next: WebConfiguration) -> String? {
        if let tls {
            guard let other = next.tls else {
                return "expected tls_server_config, found none; only a restart turns TLS off"
            }
            if let downgrade = tls.downgrade(to: other) { return downgrade }
        }
        guard users.isEmpty || !next.users.isEmpty else {
            return "expected basic_auth_users, found none; only a restart removes the last user"
        }
        return nil
    }
}

extension TLSSettings {
    fileprivate func downgrade(to next: TLSSettings) -> String? {
        guard next.clientAuthentication.strictness >= clientAuthentication.strictness else {
            return "client_auth_type: expected \(clientAuthentication.rawValue) as before, found "
                + "\(next.clientAuthentication.rawValue); only a restart weakens it"
        }
        guard allowedNames == nil || next.allowedNames != nil else {
            return "client_allowed_sans: expected names, found none; only a restart allows any name"
        }
        guard clientAuthentication != .requiredAndVerified || clientAuthorities == nil || next.clientAuthorities != nil
        else {
            return
                "client_ca_file: expected the authorities of clients, found none; only a restart falls back to "
                + "those of the system"
        }
        return nil
    }
}

extension TLSSettings.ClientAuthentication {
    /// The demand on a client without which it is refused.
    fileprivate var strictness: Int {
        switch self {
        case .none, .requested, .verifiedIfGiven: 0
        case .required: 1
        case .requiredAndVerified: 2
        }
    }
}
