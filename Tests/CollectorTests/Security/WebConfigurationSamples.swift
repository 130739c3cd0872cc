// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

/// Web configurations with what is to be said of them, and whether the exporter-toolkit says the same.
struct WebConfigurationSample: Sendable, CustomTestStringConvertible {
    let text: String
    /// The line and how the message begins; nil where the file is taken.
    let problem: String?
    /// Whether `promtool check web-config` comes to the same verdict; its toolkit is that of Prometheus 2.42.
    let isSharedVerdict: Bool

    var testDescription: String { text }

    static func good(_ text: String, promtool: Bool = true) -> Self {
        Self(text: text, problem: nil, isSharedVerdict: promtool)
    }

    static func bad(_ text: String, _ problem: String, promtool: Bool = true) -> Self {
        Self(text: text, problem: problem, isSharedVerdict: promtool)
    }

    private static let pair = "cert_file: server.pem, key_file: server.key"
    private static let strict = "RequireAndVerifyClientCert"
    private static let hash = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"

    static let all: [Self] = tls + clients + http + users + rates

    static let tls: [Self] = [
        .good("tls_server_config: {\(pair)}"),
        .good("tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_auth_type:\n"),
        .good("tls_server_config: {\(pair), min_version: TLS10, max_version: TLS12}"),
        .good("tls_server_config: {\(pair), prefer_server_cipher_suites: false}"),
        .good("tls_server_config: {\(pair), curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]}"),
        .good("tls_server_config: {\(pair), cipher_suites: [TLS_AES_128_GCM_SHA256]}"),
        .good("tls_server_config: {\(pair), cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]}"),
        .good("tls_server_config: {\(pair), cipher_suites: []}"),
        .bad("tls_server_config: {cert_file: server.pem}", ":1: tls_server_config: expected one of key_file and key"),
        .bad("tls_server_config: {key_file: server.key}", ":1: tls_server_config: expected one of cert_file and cert"),
        .bad("tls_server_config:\n  min_version: TLS13", ":2: tls_server_config: expected one of", promtool: false),
        .bad("tls_server_config: {cert_file: none.pem, key_file: server.key}", "none.pem: cert_file: there is no such"),
        .bad("tls_server_config: {cert_file: server.pem, key_file: none.key}", "none.key: key_file: there is no such"),
        .bad(
            "tls_server_config: {cert_file: server.key, key_file: server.key}",
            "server.key: cert: expected certificates"
        ),
        .bad(
            "tls_server_config: {cert_file: server.pem, key_file: server.pem}",
            "server.pem: key: expected a key in PEM"
        ),
        .bad(
            "tls_server_config: {cert_file: server.pem, key_file: other.key}",
            ": tls_server_config: expected a certif"
        ),
        .bad(
            "tls_server_config:\n  \(pair.replacing(", ", with: "\n  "))\n  min_version: TLS14",
            ":4: min_version: expected TLS10, TLS11, TLS12, TLS13, found \"TLS14\"; did you mean"
        ),
        .bad(
            "tls_server_config: {\(pair), min_version: TLS13, max_version: TLS12}",
            ":1: min_version",
            promtool: false
        ),
        .bad(
            "tls_server_config: {\(pair), cipher_suites: [TLS_AES_128_GCM_SHA256], max_version: TLS12}",
            ":1: cipher_suites: expected one that max_version has",
            promtool: false
        ),
        .bad(
            "tls_server_config: {\(pair), cipher_suites: [TLS_RSA_WITH_AES_2048]}",
            ":1: cipher_suites: expected a name that Go's"
        ),
        .bad(
            "tls_server_config: {\(pair), cipher_suites: TLS_AES_128_GCM_SHA256}",
            ":1: expected a list, found",
            promtool: false
        ),
        .bad(
            "tls_server_config: {\(pair), curve_preferences: [CurveP257]}",
            ":1: curve_preferences: expected CurveP256,"
        ),
        .bad("tls_server_config: {\(pair), certfile: a}", ":1: unknown key \"certfile\"; did you mean cert_file?"),
        .bad(
            "tls_server_config:\n  cert_file: server.pem\n  key_file: |\n    qUqP5cyxm6YcTAhz05Hph5gvu9M\n    x",
            ":3: key_file: expected a path, found several lines; write PEM under key"
        ),
        .bad("tls_server_config: [1]", ":1: expected keys and values, found a list"),
        .bad("tls_server_confg: {\(pair)}", ":1: unknown key \"tls_server_confg\"; did you mean tls_server_config?"),
        .bad(
            "tls_server_config: {\(pair), cert: x}",
            ":1: cert: expected cert or cert_file, found both",
            promtool: false
        ),
        .bad(
            "tls_server_config: {\(pair), prefer_server_cipher_suites: maybe}",
            ":1: prefer_server_cipher_suites: expected true"
        ),
    ]

    static let clients: [Self] =
        [
            "NoClientCert", "RequestClientCert", "RequireAnyClientCert", "RequireClientCert", "VerifyClientCertIfGiven",
            "RequireAndVerifyClientCert",
        ]
        .map { .good("tls_server_config: {\(pair), client_auth_type: \($0)}") } + [
            .good(
                "tls_server_config: {\(pair), client_auth_type: \(strict), client_ca_file: server.pem}"
            ),
            .good(
                "tls_server_config: {\(pair), client_auth_type: \(strict), client_ca_file: server.pem, "
                    + "client_allowed_sans: [localhost, 127.0.0.1]}",
                promtool: false
            ),
            .bad(
                "tls_server_config: {\(pair), client_auth_type: RequireVerified}",
                ":1: client_auth_type: expected NoClientCert,"
            ),
            .bad(
                "tls_server_config: {\(pair), client_ca_file: server.pem}",
                ":1: client_auth_type: expected one beside"
            ),
            .bad(
                "tls_server_config: {\(pair), client_auth_type: \(strict), client_ca_file: none.pem}",
                "none.pem: client_ca_file: there is no such file"
            ),
            .bad(
                "tls_server_config: {\(pair), client_auth_type: \(strict), client_ca_file: server.key}",
                "server.key: client_ca: expected certificates",
                promtool: false
            ),
            .bad(
                "tls_server_config: {\(pair), client_auth_type: RequestClientCert, client_allowed_sans: [a]}",
                ":1: client_allowed_sans: expected client_auth_type"
            ),
        ]

    static let http: [Self] = [
        .good(""),
        .good("{}"),
        .good("http_server_config:\n"),
        .good("http_server_config: {http2: true}"),
        .good("http_server_config: {http2: no}"),
        .good(
            "http_server_config: {headers: {X-Frame-Options: deny, X-Content-Type-Options: nosniff, "
                + "X-XSS-Protection: \"1; mode=block\", Content-Security-Policy: \"default-src 'self'\", "
                + "Strict-Transport-Security: max-age=31536000}}"
        ),
        .good("http_server_config: {headers: {X-Frame-Options: sameorigin}}"),
        .bad("http_server_config: {http2: 2}", ":1: http2: expected true or false, found \"2\""),
        .bad(
            "http_server_config: {headers: {X-Frame-Options: DENY}}",
            ":1: X-Frame-Options: expected deny or sameorigin"
        ),
        .bad(
            "http_server_config: {headers: {X-Content-Type-Options: sniff}}",
            ":1: X-Content-Type-Options: expected nosniff"
        ),
        .bad(
            "http_server_config: {headers: {X-Frame-Option: deny}}",
            ":1: unknown key \"X-Frame-Option\"; did you mean X-Frame-Options?"
        ),
        .bad("http_server_config: {headers: {Server: me}}", ":1: unknown key"),
        .bad(
            "http_server_config:\n  headers:\n    X-XSS-Protection: \"a\\r\\nSet-Cookie: b\"",
            ":3: X-XSS-Protection: expected at most",
            promtool: false
        ),
        .bad("http_server_config: {http3: true}", ":1: unknown key \"http3\"; did you mean http2?"),
    ]

    static let users: [Self] = [
        .good("basic_auth_users:\n"),
        .good(
            "basic_auth_users:\n  alice: \(hash)\n  böb: \(hash.replacing("$2y$10", with: "$2b$04"))\n  \"\": \(hash)"
        ),
        .bad("basic_auth_users:\n  alice: secret", ":2: \"alice\": expected a bcrypt hash that begins with"),
        .bad("basic_auth_users:\n  alice: [\(hash)]", ":2: \"alice\": expected a bcrypt hash, found a list"),
        .bad("basic_auth_users:\n  alice: \(hash)\n  bob: {SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=", ":3: is not YAML"),
        .bad("basic_auth_users:\n  a: \(hash)\n  a: \(hash)", ":2: expected each key once"),
        .bad(
            "basic_auth_users:\n  alice: \(hash.replacing("$10$", with: "$18$"))",
            ":2: \"alice\": expected a bcrypt hash of a cost from 4 to 14, found 18",
            promtool: false
        ),
        .bad(
            "basic_auth_users:\n  alice: \(hash.replacing("$10$", with: "$03$"))",
            ":2: \"alice\": expected a bcrypt hash of a cost"
        ),
        .bad(
            "basic_auth_users:\n  al:ice: \(hash)",
            ":2: expected a user without \":\", found one with it",
            promtool: false
        ),
        .bad("basic_auth_users:\n  \(hash): alice", ":2: expected a bcrypt hash that begins with"),
        .bad("basic_auth_users: [alice]", ":1: basic_auth_users: expected keys and values, found a list"),
    ]

    /// Of toolkits later than that of Prometheus 2.42.
    static let rates: [Self] = [
        .good("rate_limit: {interval: \"1s\", burst: 20}", promtool: false),
        .good("rate_limit: {interval: 0}", promtool: false),
        .good("rate_limit: {interval: 1m0.5s, burst: 1}", promtool: false),
        .bad(
            "rate_limit: {interval: 5, burst: 20}",
            ":1: interval: expected a duration such as 1s or 100ms, found \"5\""
        ),
        .bad("rate_limit: {interval: -1s, burst: 20}", ":1: interval: expected a duration"),
        .bad(
            "rate_limit: {interval: \"5\\n\\e[2J\", burst: 20}",
            ":1: interval: expected a duration such as 1s or 100ms, found \"5\u{FFFD}\u{FFFD}[2J\""
        ),
        .bad("rate_limit: {interval: 1s}", ":1: interval: expected a burst of at least 1 beside it, found none"),
        .bad("rate_limit: {burst: 20}", ":1: burst: expected an interval beside it, found none"),
        .bad("rate_limit: {interval: 1s, burst: 0}", ":1: burst: expected a number of requests from 1, found \"0\""),
        .bad(
            "rate_limit: {interval: 1s, burst: 1.5}",
            ":1: burst: expected a number of requests from 1, found \"1.5\""
        ),
    ]
}
