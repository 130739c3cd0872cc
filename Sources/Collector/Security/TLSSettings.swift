// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

/// The section `tls_server_config` of a `web.config.yml`.
struct TLSSettings: Equatable, Sendable {
    /// Where certificates or a key stand, as PEM.
    enum Source: Equatable, Sendable {
        case file(String)
        case inline(String)
    }

    /// Which certificates of clients are asked for and what is asked of them (Go's `tls.ClientAuthType`).
    enum ClientAuthentication: String, CaseIterable, Sendable {
        case none = "NoClientCert"
        case requested = "RequestClientCert"
        case required = "RequireAnyClientCert"
        case verifiedIfGiven = "VerifyClientCertIfGiven"
        case requiredAndVerified = "RequireAndVerifyClientCert"

        /// The older name that the toolkit takes too.
        static let aliases = ["RequireClientCert": Self.required]

        var isRequired: Bool { self == .required || self == .requiredAndVerified }
        var isVerified: Bool { self == .verifiedIfGiven || self == .requiredAndVerified }
    }

    var certificate: Source
    var key: Source
    /// Who may have signed a client's certificate; nil: who the system trusts.
    var clientAuthorities: Source?
    var clientAuthentication = ClientAuthentication.none
    /// The alternative names of which a client's certificate must have one; nil: any.
    var allowedNames: Set<String>?
    var minimumVersion = TLSVersion.tlsv12
    var maximumVersion = TLSVersion.tlsv13
    /// The suites up to TLS 1.2; nil: NIOSSL's. Those of TLS 1.3 are always there.
    var cipherSuites: [NIOTLSCipher]?
    /// The groups of the key exchange; nil: NIOSSL's.
    var curves: [NIOTLSCurve]?

    /// The files that it names.
    var files: [String] {
        [certificate, key, clientAuthorities].compactMap { source in
            if case .file(let path) = source { path } else { nil }
        }
    }
}
