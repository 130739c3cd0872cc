// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

/// The section `tls_server_config` of a `web.config.yml`.
struct TLSSettings: Equatable, Sendable {
    /// The place of certificates or a key in PEM.
    enum Source: Equatable, Sendable {
        case file(String)
        case inline(String)
    }

    /// The demands on client certificates (Go's `tls.ClientAuthType`).
    enum ClientAuthentication: String, CaseIterable, Sendable {
        case none = "NoClientCert"
        case requested = "RequestClientCert"
        case required = "RequireAnyClientCert"
        case verifiedIfGiven = "VerifyClientCertIfGiven"
        case requiredAndVerified = "RequireAndVerifyClientCert"

        /// The older name, which the exporter-toolkit accepts too.
        static let aliases = ["RequireClientCert": Self.required]

        var isRequired: Bool { self == .required || self == .requiredAndVerified }
        var isVerified: Bool { self == .verifiedIfGiven || self == .requiredAndVerified }
    }

    var certificate: Source
    var key: Source
    /// The authorities of client certificates; nil: those that the system trusts.
    var clientAuthorities: Source?
    var clientAuthentication = ClientAuthentication.none
    /// A client's certificate must have one of these alternative names; nil: any name.
    var allowedNames: Set<String>?
    var minimumVersion = TLSVersion.tlsv12
    var maximumVersion = TLSVersion.tlsv13
    /// The suites up to TLS 1.2; nil: NIOSSL's defaults. Those of TLS 1.3 are always enabled.
    var cipherSuites: [NIOTLSCipher]?
    /// The groups of the key exchange; nil: NIOSSL's defaults.
    var curves: [NIOTLSCurve]?

    /// The files named in the section.
    var files: [String] {
        [certificate, key, clientAuthorities].compactMap { source in
            if case .file(let path) = source { path } else { nil }
        }
    }
}

// MARK: Parsing

extension TLSSettings {
    /// The keys of the section.
    static let keys = [
        "cert", "key", "client_ca", "cert_file", "key_file", "client_auth_type", "client_ca_file",
        "client_allowed_sans",
        "min_version", "max_version", "cipher_suites", "prefer_server_cipher_suites", "curve_preferences",
    ]

    private static let maximumNames = 1_000

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
        // Go ignores it since 1.18: the server's order, by what the hardware does fast, always applies.
        _ = try section.boolean("prefer_server_cipher_suites")
        allowedNames = try Self.allowedNames(section)
        try chooseCipherSuites(section)
        try check(section)
    }

    /// The value of `cert` or `cert_file`; not both.
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

    /// If only suites of TLS 1.3 are named, older versions are off.
    private mutating func chooseCipherSuites(_ section: WebSection) throws(ConfigurationProblem) {
        let always = Dictionary(uniqueKeysWithValues: TLSNames.alwaysEnabled.map { ($0, NIOTLSCipher?.none) })
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

/// The names of versions, suites and curves in a `web.config.yml`: those of Go's crypto/tls.
private enum TLSNames {
    static let versions: [String: TLSVersion] = [
        "TLS10": .tlsv1, "TLS11": .tlsv11, "TLS12": .tlsv12, "TLS13": .tlsv13,
    ]

    static let curves: [String: NIOTLSCurve] = [
        "CurveP256": .secp256r1, "CurveP384": .secp384r1, "CurveP521": .secp521r1, "X25519": .x25519,
    ]

    /// The suites of TLS 1.3, which can be named but not disabled.
    static let alwaysEnabled = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]

    /// `tls.CipherSuites()` of Go 1.19, the version of the exporters in Debian 12.
    static let cipherSuites: [String: NIOTLSCipher] = [
        "TLS_RSA_WITH_AES_128_CBC_SHA": .TLS_RSA_WITH_AES_128_CBC_SHA,
        "TLS_RSA_WITH_AES_256_CBC_SHA": .TLS_RSA_WITH_AES_256_CBC_SHA,
        "TLS_RSA_WITH_AES_128_GCM_SHA256": .TLS_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_RSA_WITH_AES_256_GCM_SHA384": .TLS_RSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": .TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": .TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}

extension TLSVersion {
    /// A number that is comparable between versions.
    fileprivate var order: Int {
        switch self {
        case .tlsv1: 10
        case .tlsv11: 11
        case .tlsv12: 12
        case .tlsv13: 13
        }
    }
}
