// SPDX-License-Identifier: Apache-2.0

/// What clients send as Accept, and what they must get.
struct AcceptHeader: Sendable, CustomStringConvertible {
    let client: String
    let value: String?
    let contentType: String

    var description: String { client }

    static let text004 = "text/plain; version=0.0.4; charset=utf-8"
    static let text100 = "text/plain; version=1.0.0; charset=utf-8"
    static let openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    static let protobuf = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

    static let all = [
        AcceptHeader(client: "no header", value: nil, contentType: text004),
        AcceptHeader(client: "curl", value: "*/*", contentType: text004),
        AcceptHeader(
            client: "a browser",
            value: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            contentType: text004
        ),
        AcceptHeader(
            client: "Prometheus 2.42",
            value: "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            contentType: openMetrics
        ),
        AcceptHeader(
            client: "Prometheus 2.42 with native histograms",
            value: "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
                + "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            contentType: protobuf
        ),
        AcceptHeader(
            client: "Prometheus 3",
            value: "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                + "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            contentType: openMetrics + "; escaping=allow-utf-8"
        ),
        AcceptHeader(client: "text 1.0.0", value: "text/plain;version=1.0.0", contentType: text100),
        AcceptHeader(client: "JSON alone", value: "application/json", contentType: text004),
        AcceptHeader(client: "garbage", value: ";;q=,=\"\\,,*/;q=9,text/plain;version", contentType: text004),
        AcceptHeader(client: "very long", value: String(repeating: "a/b;q=0.1,", count: 5_000), contentType: text004),
    ]

    /// One for each format.
    static let formats = all.filter { ["curl", "Prometheus 2.42", "text 1.0.0"].contains($0.client) || $0.isProtobuf }

    private var isProtobuf: Bool { contentType == Self.protobuf }

    var headers: [(String, String)] { value.map { [("Accept", $0)] } ?? [] }
}
