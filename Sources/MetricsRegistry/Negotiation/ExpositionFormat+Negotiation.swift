// SPDX-License-Identifier: Apache-2.0

extension ExpositionFormat {
    /// The format for a request with this Accept header; join several headers with commas.
    ///
    /// The most specific range that matches a format determines its weight and escaping (RFC 9110, 12.5.1). The
    /// greatest weight wins; then the more specific range; then the order text 0.0.4, OpenMetrics, text 1.0.0,
    /// protobuf. Without a header, or if none of the formats is acceptable, the format is text 0.0.4. The first 64
    /// ranges within 8 KiB are read.
    public static func negotiated(accept: String?) -> ExpositionFormat {
        guard let accept else { return .text004 }
        let ranges = HeaderElement.list(accept).map(MediaRange.init)
        var best: Choice?
        for encoding in [Encoding.text004, .openMetrics, .text100, .protobuf] {
            guard let choice = Choice(of: encoding, among: ranges) else { continue }
            if choice.isBetter(than: best) { best = choice }
        }
        guard let best else { return .text004 }
        return ExpositionFormat(best.encoding, escaping: best.range.escaping)
    }

    /// A format and its most specific range.
    private struct Choice {
        let encoding: Encoding
        let range: MediaRange
        let specificity: MediaRange.Specificity

        /// The most specific range that matches the format, of equals the one with the greater weight; nil if that
        /// refuses it.
        init?(of encoding: Encoding, among ranges: [MediaRange]) {
            var found: (range: MediaRange, specificity: MediaRange.Specificity)?
            for range in ranges {
                guard let specificity = range.specificity(for: encoding) else { continue }
                if let found, (found.specificity, found.range.quality) >= (specificity, range.quality) { continue }
                found = (range, specificity)
            }
            guard let found, found.range.quality > 0 else { return nil }
            self.encoding = encoding
            (range, specificity) = found
        }

        func isBetter(than other: Choice?) -> Bool {
            guard let other else { return true }
            return (range.quality, specificity) > (other.range.quality, other.specificity)
        }
    }
}

/// One media range of an Accept header.
private struct MediaRange {
    private let element: HeaderElement

    init(_ element: HeaderElement) {
        self.element = element
    }

    /// The weight in thousandths; 0 refuses the range.
    var quality: Int { element.quality }

    /// The escaping that the range requests; nil for none or an unknown one.
    var escaping: NameEscaping? {
        element.parameters["escaping"].flatMap { NameEscaping(rawValue: $0.lowercased()) }
    }

    /// How specifically the range matches a format; nil if it does not.
    ///
    /// `text/plain` without a version matches both versions. OpenMetrics 0.0.1 is answered with 1.0.0, which every
    /// parser of the former reads (Prometheus only checks the media type). Unknown parameters are ignored.
    func specificity(for encoding: ExpositionFormat.Encoding) -> Specificity? {
        switch (element.value, encoding) {
        case ("*/*", _): .anything
        case ("text/*", .text004), ("text/*", .text100): .mainType
        case ("application/*", .openMetrics), ("application/*", .protobuf): .mainType
        case ("text/plain", .text004): version("0.0.4")
        case ("text/plain", .text100): version("1.0.0")
        case ("application/openmetrics-text", .openMetrics):
            element.parameters["version"] == "0.0.1" ? .mediaType : version("1.0.0")
        case ("application/vnd.google.protobuf", .protobuf):
            element.parameters["proto"] == "io.prometheus.client.MetricFamily"
                && element.parameters["encoding"]?.lowercased() == "delimited" ? .exact : nil
        default: nil
        }
    }

    private func version(_ ours: String) -> Specificity? {
        guard let asked = element.parameters["version"] else { return .mediaType }
        return asked == ours ? .exact : nil
    }

    /// From a wildcard to a format named with its parameters.
    enum Specificity: Int, Comparable {
        case anything, mainType, mediaType, exact

        static func < (left: Specificity, right: Specificity) -> Bool {
            left.rawValue < right.rawValue
        }
    }
}
