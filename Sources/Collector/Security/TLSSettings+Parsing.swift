// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

extension TLSSettings {
    /// The keys of the section.
    static let keys = [
        "cert", "key", "client_ca", "cert_file", "key_file", "client_auth_type", "client_ca_file",
        "client_allowed_sans",
        "min_version", "max_version", "cipher_suites", "prefer_server_cipher_suites", "curve_preferences",
    ]

    /// How many alternative names may be allowed.
    static let maximumNames = 1_000

    init(_ section: WebSection) throws(ConfigurationProblem) {
        guard let certificate = try Self.source("cert", section) else {
            throw section.problem("tls_server_config", "expected one of cert_file and cert, found neither")
        }
        guard let key = try Self.source("key", section) else {
            throw section.problem("tls_server_config", "expected one of key_file and key, found neither")
        }
        self.certificate = certificate
        self.key = key
        clientAuthorities = try Self.source("client_ca", section)
        let types = Dictionary(uniqueKeysWithValues: ClientAuthentication.allCases.map { ($0.rawValue, $0) })
        clientAuthentication =
            try section.named("client_auth_type", types.merging(ClientAuthentication.aliases) { $1 }) ?? .none
        minimumVersion = try section.named("min_version", TLSNames.versions) ?? .tlsv12
        maximumVersion = try section.named("max_version", TLSNames.versions) ?? .tlsv13
        curves = try section.list("curve_preferences", TLSNames.curves)
        // Go takes no notice of it since 1.18: the server's order, by what the hardware does fast, always holds.
        _ = try section.truth("prefer_server_cipher_suites")
        allowedNames = try Self.allowedNames(section)
        try chooseCipherSuites(section)
        try check(section)
    }

    /// `cert` or `cert_file`; one of them.
    private static func source(_ key: String, _ section: WebSection) throws(ConfigurationProblem) -> Source? {
        switch (try section.text(key), try section.text("\(key)_file")) {
        case (nil, nil): return nil
        case (let text?, nil): return .inline(text)
        case (nil, let file?):
            guard file.utf8.allSatisfy({ $0 >= 0x20 }) else {
                throw section.problem("\(key)_file", "expected a path, found several lines; write PEM under \(key)")
            }
            return .file(file.hasPrefix("/") ? file : "\(directory(section.path))\(file)")
        case (_?, _?): throw section.problem(key, "expected \(key) or \(key)_file, found both")
        }
    }

    /// The directory of a path, with a slash; empty for a path without one.
    private static func directory(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[...slash])
    }

    private static func allowedNames(_ section: WebSection) throws(ConfigurationProblem) -> Set<String>? {
        guard let texts = try section.texts("client_allowed_sans") else { return nil }
        guard texts.count <= maximumNames else {
            throw section.problem("client_allowed_sans", "expected at most \(maximumNames), found \(texts.count)")
        }
        return Set(texts.map(\.text))
    }

    /// Where only suites of TLS 1.3 are named, nothing older can be spoken.
    private mutating func chooseCipherSuites(_ section: WebSection) throws(ConfigurationProblem) {
        let always = Dictionary(uniqueKeysWithValues: TLSNames.alwaysThere.map { ($0, NIOTLSCipher?.none) })
        let names = TLSNames.cipherSuites.mapValues { Optional($0) }.merging(always) { $1 }
        guard let named = try section.list("cipher_suites", names) else { return }
        let chosen = named.compactMap { $0 }
        if !chosen.isEmpty {
            cipherSuites = chosen
        } else if maximumVersion == .tlsv13 {
            minimumVersion = .tlsv13
        } else {
            throw section.problem("cipher_suites", "expected one that max_version has, found only those of TLS 1.3")
        }
    }

    private func check(_ section: WebSection) throws(ConfigurationProblem) {
        guard minimumVersion.order <= maximumVersion.order else {
            throw section.problem("min_version", "expected a version up to max_version, found a later one")
        }
        guard clientAuthorities == nil || clientAuthentication != .none else {
            throw section.problem(
                "client_auth_type",
                "expected one beside the authorities of clients, such as RequireAndVerifyClientCert, found none"
            )
        }
        guard allowedNames == nil || clientAuthentication.isRequired else {
            throw section.problem(
                "client_allowed_sans",
                "expected client_auth_type RequireAndVerifyClientCert or RequireAnyClientCert beside it, found "
                    + clientAuthentication.rawValue
            )
        }
    }
}
