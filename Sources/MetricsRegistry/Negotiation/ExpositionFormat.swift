// SPDX-License-Identifier: Apache-2.0

/// A format in which a registry writes its page.
public struct ExpositionFormat: Sendable, Hashable {
    /// The encoding of a page, apart from the escaping of names.
    public enum Encoding: Sendable, Hashable, CaseIterable {
        /// Prometheus text 0.0.4.
        case text004
        /// Prometheus text 1.0.0.
        case text100
        /// OpenMetrics text 1.0.0.
        case openMetrics
        /// Delimited `io.prometheus.client.MetricFamily` messages.
        case protobuf
    }

    /// The encoding of the page.
    public let encoding: Encoding
    /// The escaping that the client requested; nil if it named none or an unknown one.
    public let requestedEscaping: NameEscaping?
    /// Whether OpenMetrics and protobuf contain the creation times of counters and histograms. True by default.
    public var createdSamples = true

    /// Creates a format; the Content-Type names the escaping only if one is given.
    public init(_ encoding: Encoding, escaping: NameEscaping? = nil) {
        self.encoding = encoding
        self.requestedEscaping = escaping
    }

    /// Prometheus text 0.0.4, which everything understands.
    public static let text004 = ExpositionFormat(.text004)
    /// Prometheus text 1.0.0.
    public static let text100 = ExpositionFormat(.text100)
    /// OpenMetrics text 1.0.0.
    public static let openMetrics = ExpositionFormat(.openMetrics)
    /// Delimited `io.prometheus.client.MetricFamily` messages.
    public static let protobuf = ExpositionFormat(.protobuf)

    /// The escaping of names: as requested, by default underscores.
    public var escaping: NameEscaping { requestedEscaping ?? .underscores }

    /// The value of the Content-Type header.
    public var contentType: String {
        guard let requestedEscaping else { return mediaType }
        return "\(mediaType); escaping=\(requestedEscaping.rawValue)"
    }

    private var mediaType: String {
        switch encoding {
        case .text004: "text/plain; version=0.0.4; charset=utf-8"
        case .text100: "text/plain; version=1.0.0; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .protobuf:
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
        }
    }
}

extension ExpositionFormat {
    /// Whether a page contains creation times.
    var showsCreated: Bool { hasExemplars && createdSamples }

    /// Whether a page has exemplars.
    var hasExemplars: Bool {
        switch encoding {
        case .text004, .text100: false
        case .openMetrics, .protobuf: true
        }
    }

    /// The format whose layout of a family also serves this one: the two Prometheus texts differ only in their
    /// Content-Type, and classic names look the same in every escaping.
    func layoutFormat(hasClassicNames: Bool) -> ExpositionFormat {
        let isText = encoding == .text004 || encoding == .text100
        var format = ExpositionFormat(isText ? .text004 : encoding, escaping: hasClassicNames ? .underscores : escaping)
        format.createdSamples = isText || createdSamples
        return format
    }

    /// Whether a page has native histograms.
    var hasSparseBuckets: Bool { encoding == .protobuf }

    /// The text after the last family.
    var epilogue: [UInt8] {
        switch encoding {
        case .text004, .text100, .protobuf: []
        case .openMetrics: Array("# EOF\n".utf8)
        }
    }
}
