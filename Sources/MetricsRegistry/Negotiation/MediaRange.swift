// SPDX-License-Identifier: Apache-2.0

/// One media range of an Accept header, as far as it bears on the formats of a page.
struct MediaRange {
    private let element: HeaderElement

    init(_ element: HeaderElement) {
        self.element = element
    }

    /// The weight in thousandths; 0 refuses what the range matches.
    var quality: Int { element.quality }

    /// The escaping that the range asks for; nil for none or one that doesn't exist.
    var escaping: NameEscaping? {
        element.parameters["escaping"].flatMap { NameEscaping(rawValue: $0.lowercased()) }
    }

    /// How exactly the range names a format; nil if it doesn't match it.
    ///
    /// `text/plain` without a version matches both versions. OpenMetrics 0.0.1 is answered with 1.0.0, which every
    /// parser of the former reads (Prometheus looks at the media type alone). Parameters that bear on no format are
    /// ignored.
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
