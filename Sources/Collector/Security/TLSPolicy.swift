// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL

/// The TLS context of new connections, and the demands on a client's certificate.
struct TLSPolicy: Sendable {
    let context: NIOSSLContext
    /// Whether a client's certificate is accepted whoever signed it.
    private let acceptsAnyCertificate: Bool
    /// A client's certificate must have one of these alternative names; nil: any name.
    let allowedNames: Set<String>?
    /// The `notAfter` of the server's certificate, in seconds since 1970.
    let certificateEnds: Int64

    /// The limit of a file of certificates or a key, in bytes.
    static let maximumFile = 1 << 20

    /// Reads the certificates and the key.
    ///
    /// - Parameter path: the file of the settings, for messages.
    init(_ settings: TLSSettings, path: String) throws(ConfigurationProblem) {
        let chain = try Self.certificates(settings.certificate, "cert", path)
        let key = try Self.key(settings.key, path)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = settings.minimumVersion
        configuration.maximumTLSVersion = settings.maximumVersion
        configuration.applicationProtocols = ["http/1.1"]
        // Don't wait for the client's close_notify: a client could keep its place by not sending it.
        configuration.shutdownTimeout = .zero
        if let suites = settings.cipherSuites { configuration.cipherSuiteValues = suites }
        if let curves = settings.curves { configuration.curves = curves }
        switch settings.clientAuthentication {
        case .none: configuration.certificateVerification = .none
        case .requested, .verifiedIfGiven: configuration.certificateVerification = .optionalVerification
        case .required, .requiredAndVerified: configuration.certificateVerification = .noHostnameVerification
        }
        if let authorities = settings.clientAuthorities {
            configuration.trustRoots = .certificates(try Self.certificates(authorities, "client_ca", path))
            configuration.sendCANameList = settings.clientAuthentication.isVerified
        } else if !settings.clientAuthentication.isVerified {
            configuration.trustRoots = .certificates([])
        }
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConfigurationProblem(
                .file(path, line: nil),
                "tls_server_config: expected a certificate and the key that belongs to it, found what TLS cannot use"
            )
        }
        acceptsAnyCertificate = [.requested, .required].contains(settings.clientAuthentication)
        allowedNames = settings.allowedNames
        certificateEnds = Int64(chain.first?.notValidAfter ?? 0)
    }

    private static func certificates(
        _ source: TLSSettings.Source,
        _ key: String,
        _ path: String
    ) throws(ConfigurationProblem) -> [NIOSSLCertificate] {
        let (bytes, origin) = try content(source, key, path)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw ConfigurationProblem(origin, "\(key): expected certificates in PEM, found none that can be read")
        }
        return certificates
    }

    private static func key(
        _ source: TLSSettings.Source,
        _ path: String
    ) throws(ConfigurationProblem) -> NIOSSLPrivateKey {
        let (bytes, origin) = try content(source, "key", path)
        guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
            throw ConfigurationProblem(origin, "key: expected a key in PEM without a passphrase, found none")
        }
        return key
    }

    /// Whether a file name has the usual form, with a dot and of letters, digits, `.`, `_` and `-`, so that it can't be
    /// a secret pasted in place of a path.
    private static func looksLikePath(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.contains(".") && name.utf8.count <= 255
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    private static func content(
        _ source: TLSSettings.Source,
        _ key: String,
        _ path: String
    ) throws(ConfigurationProblem) -> ([UInt8], ConfigurationProblem.Origin) {
        switch source {
        case .inline(let text): return (Array(text.utf8), .file(path, line: nil))
        case .file(let file):
            do throws(SmallFile.Failure) {
                return (try SmallFile.read(file, maximumSize: maximumFile), .file(file, line: nil))
            } catch {
                let named = looksLikePath(file) ? file : path
                throw ConfigurationProblem(.file(named, line: nil), "\(key)_file: \(error)")
            }
        }
    }
}

extension ConnectionSecurity {
    /// TLS by the rules in force when a connection is accepted.
    init(_ rules: LiveSecurityRules, _ live: LiveConfiguration, metrics: TLSMetrics) {
        self.init(scheme: rules.current.tls == nil ? "http" : "https") { channel in
            guard let policy = rules.current.tls else { return }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(PlainRequestHandler())
            try pipeline.addHandler(policy.handler())
            try pipeline.addHandler(
                HandshakeHandler(
                    allowedNames: policy.allowedNames,
                    timeout: TimeAmount(live.current.headerTimeout),
                    metrics: metrics
                )
            )
        }
    }
}

extension TLSPolicy {
    fileprivate func handler() -> NIOSSLServerHandler {
        guard acceptsAnyCertificate else { return NIOSSLServerHandler(context: context) }
        return NIOSSLServerHandler(
            context: context,
            customVerificationCallback: { _, promise in
                promise.succeed(.certificateVerified)
            }
        )
    }
}
