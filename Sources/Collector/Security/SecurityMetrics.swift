// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Counts refused requests, events by token, and reloads of the security files.
struct SecurityMetrics: Sendable {
    /// Why a request was answered 401.
    enum Refusal: String, CaseIterable {
        /// No credentials.
        case missing
        /// Credentials of an unknown form, or of the wrong scheme.
        case malformed
        /// An invalid token.
        case token
        /// An unknown user or a wrong password.
        case password
    }

    /// The limit that refused a request.
    enum Limit: String, CaseIterable {
        case client, token
        case webConfiguration = "web_config"
        /// Too many passwords wait to be checked.
        case passwords
    }

    let tls: TLSMetrics
    private let unauthorized: CounterFamily
    private let limited: CounterFamily
    private let tokenEvents: CounterFamily
    private let webReloads: CounterFamily
    private let tokenReloads: CounterFamily
    private let isWebGood: Gauge?
    private let areTokensGood: Gauge?

    init(_ registry: MetricsRegistry, hasWebConfiguration: Bool = true, hasTokens: Bool = true) {
        tls = TLSMetrics(registry)
        unauthorized = registry.counter(
            "dnp_telemetry_http_unauthorized_total",
            help: "Requests answered 401, by reason.",
            labels: ["reason"]
        )
        limited = registry.counter(
            "dnp_telemetry_http_limited_total",
            help: "Requests refused because of a rate, by the limit that they met.",
            labels: ["limit"]
        )
        tokenEvents = registry.counter(
            "dnp_telemetry_token_events_total",
            help: "Events received with a token, refused ones included, by the token's name.",
            labels: ["token"]
        )
        webReloads = registry.counter(
            "dnp_telemetry_web_config_reloads_total",
            help: "Changes of the web configuration or a file that it names, by whether they could be taken.",
            labels: ["result"]
        )
        tokenReloads = registry.counter(
            "dnp_telemetry_token_reloads_total",
            help: "Changes of the tokens, by whether they could be taken.",
            labels: ["result"]
        )
        isWebGood =
            hasWebConfiguration
            ? registry.gauge(
                "dnp_telemetry_web_config_last_reload_successful",
                help: "1 where the web configuration could be taken when it was read last, else 0; absent without one."
            ) : nil
        areTokensGood =
            hasTokens
            ? registry.gauge(
                "dnp_telemetry_token_last_reload_successful",
                help: "1 where the tokens could be taken when they were read last, else 0; absent without a directory."
            ) : nil
        isWebGood?.set(1)
        areTokensGood?.set(1)
        for reason in Refusal.allCases { _ = unauthorized.with(reason.rawValue) }
        for limit in Limit.allCases { _ = limited.with(limit.rawValue) }
        for result in ["success", "failure"] {
            _ = webReloads.with(result)
            _ = tokenReloads.with(result)
        }
    }

    func unauthorized(_ reason: Refusal) {
        unauthorized.with(reason.rawValue).add()
    }

    func limited(_ limit: Limit) {
        limited.with(limit.rawValue).add()
    }

    func received(_ events: Int, token: String) {
        tokenEvents.with(token).add(UInt64(max(0, events)))
    }

    func use(_ rules: SecurityRules) {
        tls.use(rules.tls)
        for name in rules.tokens.names { _ = tokenEvents.with(name) }
    }

    func reloaded(_ reading: SecurityFiles.Reading) {
        let isGood = reading.problem == nil
        let (reloads, lastGood) =
            switch reading.subject {
            case .webConfiguration: (webReloads, isWebGood)
            case .tokens: (tokenReloads, areTokensGood)
            }
        reloads.with(isGood ? "success" : "failure").add()
        lastGood?.set(isGood ? 1 : 0)
    }
}

/// Counts TLS handshakes by result, and shows when the certificate ends.
struct TLSMetrics: Sendable {
    enum Result: String, CaseIterable {
        /// The connection is encrypted, and the client's certificate satisfies the policy.
        case completed
        /// It failed: no or an invalid client certificate, no common version or suite, or no TLS at all.
        case failed
        /// The client's certificate has no allowed name.
        case refused
    }

    private let handshakes: CounterFamily
    private let certificateEnd: Gauge

    init(_ registry: MetricsRegistry) {
        handshakes = registry.counter(
            "dnp_telemetry_tls_handshakes_total",
            help: "Handshakes of TLS, by result; refused where the client's certificate has none of the allowed names.",
            labels: ["result"]
        )
        certificateEnd = registry.gauge(
            "dnp_telemetry_tls_certificate_not_after_timestamp_seconds",
            help: "When the certificate of the server ends, in seconds since 1970; 0 without TLS.",
            unit: "seconds"
        )
        for result in Result.allCases { _ = handshakes.with(result.rawValue) }
        certificateEnd.set(0)
    }

    func count(_ result: Result) {
        handshakes.with(result.rawValue).add()
    }

    func use(_ policy: TLSPolicy?) {
        certificateEnd.set(Double(policy?.certificateEnds ?? 0))
    }
}
