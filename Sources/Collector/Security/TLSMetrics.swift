// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What became of the handshakes of TLS.
struct TLSMetrics: Sendable {
    enum Result: String, CaseIterable {
        /// The connection is encrypted, and the client's certificate is as it is asked for.
        case completed
        /// It ended before: no or a wrong certificate of the client, no version or suite in common, no TLS at all.
        case failed
        /// The client's certificate has none of the allowed names.
        case refused
    }

    private let handshakes: CounterFamily
    private let ends: Gauge

    init(_ registry: MetricsRegistry) {
        handshakes = registry.counter(
            "dnp_telemetry_tls_handshakes_total",
            help: "Handshakes of TLS, by result; refused where the client's certificate has none of the allowed names.",
            labels: ["result"]
        )
        ends = registry.gauge(
            "dnp_telemetry_tls_certificate_not_after_timestamp_seconds",
            help: "When the certificate of the server ends, in seconds since 1970; 0 without TLS.",
            unit: "seconds"
        )
        for result in Result.allCases { _ = handshakes.with(result.rawValue) }
        ends.set(0)
    }

    func count(_ result: Result) {
        handshakes.with(result.rawValue).add()
    }

    func use(_ terms: TLSTerms?) {
        ends.set(Double(terms?.certificateEnds ?? 0))
    }
}
