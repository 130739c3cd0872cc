// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

/// The names that a `web.config.yml` has for versions, suites and curves: those of Go's crypto/tls.
enum TLSNames {
    static let versions: [String: TLSVersion] = [
        "TLS10": .tlsv1, "TLS11": .tlsv11, "TLS12": .tlsv12, "TLS13": .tlsv13,
    ]

    static let curves: [String: NIOTLSCurve] = [
        "CurveP256": .secp256r1, "CurveP384": .secp384r1, "CurveP521": .secp521r1, "X25519": .x25519,
    ]

    /// Those of TLS 1.3, which can be named and not be chosen.
    static let alwaysThere = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]

    /// `tls.CipherSuites()` of Go 1.19, the version of Debian 12's exporters.
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
    /// Its place among the versions.
    var order: Int {
        switch self {
        case .tlsv1: 10
        case .tlsv11: 11
        case .tlsv12: 12
        case .tlsv13: 13
        }
    }
}
