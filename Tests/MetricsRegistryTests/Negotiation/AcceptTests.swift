// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Accept negotiation")
struct AcceptTests {
    @Test("each Accept header gets the expected format", arguments: AcceptCase.all)
    func acceptTable(accept: AcceptCase) {
        #expect(ExpositionFormat.negotiated(accept: accept.header) == accept.expected)
    }

    @Test("the Content-Type names the escaping only if the client did")
    func contentTypes() {
        let types: [(ExpositionFormat, String)] = [
            (.text004, "text/plain; version=0.0.4; charset=utf-8"),
            (.text100, "text/plain; version=1.0.0; charset=utf-8"),
            (.openMetrics, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
            (
                .protobuf,
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            ),
            (
                ExpositionFormat(.text100, escaping: .allowUTF8),
                "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
            ),
            (
                ExpositionFormat(.openMetrics, escaping: .values),
                "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=values"
            ),
        ]
        for (format, type) in types { #expect(format.contentType == type) }
        #expect(ExpositionFormat.openMetrics.escaping == .underscores)
        #expect(ExpositionFormat(.text100, escaping: .dots).escaping == .dots)
    }

    @Test("only the first 64 Accept ranges within 8 KiB count, and a truncated range is ignored")
    func acceptLimits() {
        let openMetrics = "application/openmetrics-text"
        let many = { (count: Int) in String(repeating: "a/b,", count: count) }
        #expect(ExpositionFormat.negotiated(accept: many(63) + openMetrics) == .openMetrics)
        #expect(ExpositionFormat.negotiated(accept: many(64) + openMetrics) == .text004)
        let padding = { (bytes: Int) in openMetrics + ",a/b;x=" + String(repeating: "x", count: bytes) }
        #expect(ExpositionFormat.negotiated(accept: padding(20_000)) == .openMetrics)
        let lead = "a/b;x=" + String(repeating: "x", count: 8_192 - 6 - 1 - 10) + ","
        #expect(lead.utf8.count == 8_182)
        #expect(ExpositionFormat.negotiated(accept: lead + "text/plain;version=1.0.0") == .text004)
        #expect(ExpositionFormat.negotiated(accept: lead + openMetrics) == .text004)
        let parameters = (0..<16).map { ";p\($0)=v" }.joined()
        #expect(ExpositionFormat.negotiated(accept: openMetrics + parameters) == .openMetrics)
        #expect(ExpositionFormat.negotiated(accept: openMetrics + parameters + ";one=more") == .text004)
    }

    @Test("any Accept header gets one of the formats")
    func anyHeader() {
        var random = SeededRandom(seed: 4)
        let pieces = [
            "text/plain", "text/*", "*/*", "application/openmetrics-text", "application/vnd.google.protobuf", ";", ",",
            "q=", "0", "1", ".5", "0.333", "version=", "1.0.0", "0.0.4", "escaping=", "allow-utf-8", "dots", "\"", "\\",
            " ", "\t", "/", "*", "=", "é", "\u{0}", "\n", "proto=io.prometheus.client.MetricFamily",
            "encoding=delimited", String(repeating: "x", count: 3_000),
        ]
        var encodings: Set<ExpositionFormat.Encoding> = []
        for _ in 0..<4_000 {
            let count = Int.random(in: 0...24, using: &random)
            let header = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            encodings.insert(ExpositionFormat.negotiated(accept: header).encoding)
            _ = ContentCoding.negotiated(acceptEncoding: header)
        }
        #expect(encodings.contains(.openMetrics) && encodings.contains(.text004))
    }

    @Test("gzip is used if it is allowed and identity is not preferred", arguments: CodingCase.all)
    func acceptCodings(coding: CodingCase) {
        #expect(ContentCoding.negotiated(acceptEncoding: coding.header) == coding.expected)
    }
}

/// An Accept header and its expected format.
struct AcceptCase: Sendable, CustomTestStringConvertible {
    let client: String
    let header: String?
    let expected: ExpositionFormat

    var testDescription: String { client }

    private init(_ client: String, _ header: String?, _ expected: ExpositionFormat) {
        self.client = client
        self.header = header
        self.expected = expected
    }

    private static let proto = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily"
    private static let openMetrics = "application/openmetrics-text"

    static let all = scrapers + people + choices + escapings + garbage

    private static let scrapers = [
        AcceptCase(
            "Prometheus 2.30",
            "\(openMetrics); version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            .openMetrics
        ),
        AcceptCase(
            "Prometheus 2.42",
            "\(openMetrics);version=1.0.0,\(openMetrics);version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            .openMetrics
        ),
        AcceptCase(
            "Prometheus 2.42 with native histograms",
            "\(proto);encoding=delimited,\(openMetrics);version=1.0.0;q=0.8,\(openMetrics);version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            .protobuf
        ),
        AcceptCase(
            "Prometheus 2.49",
            "\(openMetrics);version=1.0.0;q=0.5,\(openMetrics);version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,"
                + "*/*;q=0.2",
            .openMetrics
        ),
        AcceptCase(
            "Prometheus 3.0, which asks for an escaping in every range",
            "\(openMetrics);version=1.0.0;escaping=allow-utf-8;q=0.6,"
                + "\(openMetrics);version=0.0.1;escaping=allow-utf-8;q=0.5,"
                + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                + "text/plain;version=0.0.4;escaping=allow-utf-8;q=0.3,*/*;q=0.2",
            ExpositionFormat(.openMetrics, escaping: .allowUTF8)
        ),
        AcceptCase(
            "Prometheus 3.x",
            "\(openMetrics);version=1.0.0;escaping=allow-utf-8;q=0.6,\(openMetrics);version=0.0.1;q=0.5,"
                + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            ExpositionFormat(.openMetrics, escaping: .allowUTF8)
        ),
        AcceptCase(
            "Prometheus 3.x with native histograms",
            "\(proto);encoding=delimited;q=0.6,\(openMetrics);version=1.0.0;escaping=allow-utf-8;q=0.5,"
                + "\(openMetrics);version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
                + "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
            .protobuf
        ),
        AcceptCase(
            "Prometheus 3.0 with native histograms",
            "\(proto);encoding=delimited;escaping=allow-utf-8;q=0.6,\(openMetrics);version=1.0.0;"
                + "escaping=allow-utf-8;q=0.5,*/*;q=0.1",
            ExpositionFormat(.protobuf, escaping: .allowUTF8)
        ),
        AcceptCase(
            "Prometheus 3.x told to scrape text 1.0.0",
            "text/plain;version=1.0.0;escaping=underscores;q=0.6,*/*;q=0.5",
            ExpositionFormat(.text100, escaping: .underscores)
        ),
        AcceptCase(
            "Prometheus 3.x told to scrape OpenMetrics 0.0.1",
            "\(openMetrics);version=0.0.1;q=0.6",
            .openMetrics
        ),
        AcceptCase("telegraf", "\(proto);encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3", .protobuf),
        AcceptCase("Go-http-client", nil, .text004),
    ]

    private static let people = [
        AcceptCase("curl", "*/*", .text004),
        AcceptCase(
            "Chrome",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
                + "application/signed-exchange;v=b3;q=0.7",
            .text004
        ),
        AcceptCase(
            "Firefox",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,image/svg+xml,"
                + "*/*;q=0.8",
            .text004
        ),
        AcceptCase("Java", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", .text004),
    ]

    private static let choices = [
        AcceptCase("the greater weight wins", "text/plain;q=0.4,\(openMetrics);q=0.401", .openMetrics),
        AcceptCase("weights of 1 with decimals", "text/plain;q=0.999,\(openMetrics);q=1.000", .openMetrics),
        AcceptCase("between equals our own order", "\(openMetrics),text/plain", .text004),
        AcceptCase("between equals what is named exactly", "\(openMetrics);version=1.0.0,text/plain", .openMetrics),
        AcceptCase("text 1.0.0 beside an unversioned text", "text/plain;q=0.5,text/plain;version=1.0.0", .text100),
        AcceptCase("a wildcard doesn't lift what is named", "text/plain;q=0.1,*/*;q=0.5", .openMetrics),
        AcceptCase("a refused format", "text/plain;version=0.0.4;q=0,*/*", .openMetrics),
        AcceptCase("both texts refused", "text/plain;q=0,*/*;q=0.5", .openMetrics),
        AcceptCase("everything refused", "*/*;q=0", .text004),
        AcceptCase("the only format that is named refused", "\(openMetrics);version=1.0.0;q=0", .text004),
        AcceptCase("all but text 1.0.0 refused", "*/*;q=0.000,text/plain;version=1.0.0;q=0.001", .text100),
        AcceptCase("text/*", "text/*;q=0.5,application/json", .text004),
        AcceptCase("application/*", "application/*", .openMetrics),
        AcceptCase("capitals", "Application/OpenMetrics-TEXT;Version=1.0.0;Q=1", .openMetrics),
        AcceptCase("unknown parameters", "\(openMetrics);charset=utf-8;version=1.0.0;v;x=y", .openMetrics),
        AcceptCase("quoted values", "\(openMetrics);x=\"a,b;q=0\\\"\";version=\"1.0.0\"", .openMetrics),
        AcceptCase("spaces and tabs", " \t\(openMetrics) ; version=1.0.0\t; q=0.5 , text/plain;q=0.2", .openMetrics),
        AcceptCase("several headers in one", "text/html,,\(openMetrics),", .openMetrics),
        AcceptCase("an unknown version", "\(openMetrics);version=2.0.0,text/plain;version=3;q=0.5", .text004),
        AcceptCase("protobuf in a coding that isn't written", "\(proto);encoding=text,text/plain;q=0.1", .text004),
        AcceptCase("compact protobuf", "\(proto);encoding=compact-text", .text004),
        AcceptCase("protobuf of nothing in particular", "application/vnd.google.protobuf", .text004),
        AcceptCase(
            "protobuf of another message",
            "application/vnd.google.protobuf;proto=other.Message;encoding=delimited,\(openMetrics);q=0.1",
            .openMetrics
        ),
    ]

    private static let escapings = [
        AcceptCase("dots", "text/plain;version=0.0.4;escaping=dots", ExpositionFormat(.text004, escaping: .dots)),
        AcceptCase(
            "values, quoted",
            "\(openMetrics);escaping=\"values\"",
            ExpositionFormat(.openMetrics, escaping: .values)
        ),
        AcceptCase("an escaping that doesn't exist", "\(openMetrics);escaping=klingon", .openMetrics),
        AcceptCase("no escaping", "\(openMetrics);escaping=", .text004),
        AcceptCase(
            "the escaping of the range that was chosen",
            "text/plain;version=1.0.0;escaping=dots;q=0.5,\(openMetrics);escaping=values;q=0.4",
            ExpositionFormat(.text100, escaping: .dots)
        ),
        AcceptCase(
            "the same format with two escapings",
            "\(openMetrics);version=1.0.0;escaping=dots;q=0.5,\(openMetrics);version=1.0.0;escaping=values;q=0.6",
            ExpositionFormat(.openMetrics, escaping: .values)
        ),
    ]

    private static let garbage = [
        "", " ", ",", ",,,;;;", "garbage", "/", "text/", "/plain", "text//plain", "text/plain/x;q=1", "\"",
        "\"text/plain",
        "\(openMetrics);q=2", "\(openMetrics);q=-1", "\(openMetrics);q=0.1234", "\(openMetrics);q=1.001",
        "\(openMetrics);q=.5", "\(openMetrics);q=", "\(openMetrics);q=a", "\(openMetrics);q=\"1\"", "\(openMetrics) x",
        "\(openMetrics);x=\"never closed", "é/ö", "\u{0}\u{1}\u{7F}", "\(openMetrics);version=1.0.0é",
        String(repeating: ",", count: 100_000), String(repeating: "a", count: 100_000),
        String(repeating: "\"\\", count: 50_000),
    ].map { AcceptCase("garbage: \($0.prefix(40).debugDescription)", $0, .text004) }
}

/// An Accept-Encoding header and its expected coding.
struct CodingCase: Sendable, CustomTestStringConvertible {
    let header: String?
    let expected: ContentCoding

    var testDescription: String { header.debugDescription }

    static let all =
        gzip.map { CodingCase(header: $0, expected: .gzip) }
        + identity.map { CodingCase(header: $0, expected: .identity) }

    private static let gzip = [
        "gzip", "GZip", "x-gzip", "gzip, deflate, br", "gzip, deflate, br, zstd", "*", "identity;q=0, *", "br, *;q=0.1",
        "gzip;q=0.5", "gzip;q=0.5, identity;q=0.5", "identity;q=0.2,gzip;q=0.3", "identity;q=0, gzip;q=0.001", ",gzip,",
        "gzip;q=0, x-gzip",
    ]

    private static let identity: [String?] = [
        nil, "", "identity", "br", "deflate, br", "gzip;q=0", "gzip;q=0.000", "gzip;q=0, *", "*;q=0", "identity;q=0",
        "identity;q=0, *;q=0", "identity, gzip;q=0.9", "gzip;q=2", "gzip;q=x", "gz ip", "\"gzip\"", "\u{0}",
        "gzip/1",
    ]
}
