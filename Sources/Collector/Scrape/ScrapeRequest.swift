// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import MetricsRegistry

/// What a scrape asks for: format, content coding, families and time.
struct ScrapeRequest: Sendable {
    var format: ExpositionFormat
    var coding: ContentCoding
    /// The families to show; nil for all.
    var names: Set<String>?
    /// How long the whole response may take.
    var timeout: Duration

    /// - Parameter createdSamples: Whether OpenMetrics and protobuf carry the creation times of counters and histograms.
    init(_ request: Request, createdSamples: Bool) throws(Problem) {
        format = .negotiated(accept: request.headers[.accept])
        format.createdSamples = createdSamples
        coding = .negotiated(acceptEncoding: request.headers[.acceptEncoding])
        names = try ScrapedNames.of(query: request.uri.query)
        timeout = ScrapeTimeout.of(HTTPField.Name(ScrapeTimeout.header).flatMap { request.headers[$0] })
    }
}

/// The deadline of a scrape, from Prometheus' timeout header.
enum ScrapeTimeout {
    /// The header in which Prometheus sends its scrape timeout in seconds.
    static let header = "X-Prometheus-Scrape-Timeout-Seconds"
    /// Prometheus' default, for clients that send no header.
    static let `default` = Duration.seconds(10)
    /// The limits for any client.
    private static let boundsSeconds = 0.1...120
    /// Time for the network, so that the service gives up before Prometheus does.
    private static let offsetSeconds = 0.5

    /// The timeout for a header's value; the default where it is no positive decimal number.
    static func of(_ value: String?) -> Duration {
        guard let value, value.utf8.count <= 32, value.utf8.allSatisfy(isDigitOrPoint), let seconds = Double(value),
            seconds > 0
        else { return `default` }
        let wanted = max(seconds - offsetSeconds, seconds / 2)
        return .seconds(min(max(wanted, boundsSeconds.lowerBound), boundsSeconds.upperBound))
    }

    private static func isDigitOrPoint(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
    }
}

/// The families that a scrape selects by `name[]=`, each with and without `_total`.
enum ScrapedNames {
    static let maximumNames = 1_000

    /// The names in a query; nil when there are none, which selects all families.
    static func of(query: String?) throws(Problem) -> Set<String>? {
        guard let query else { return nil }
        var names: Set<String> = []
        var count = 0
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, decoded(key) == "name[]" else { continue }
            count += 1
            guard count <= maximumNames else { throw .tooManyNames }
            let name = parts.count > 1 ? decoded(parts[1]) : ""
            names.insert(name)
            names.insert(name + "_total")
        }
        return count == 0 ? nil : names
    }

    /// Decodes form encoding (`+`, `%5B`); an invalid escape stays as it is.
    private static func decoded(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
                if digits.count == 2 {
                    bytes.append(UInt8(digits[0] << 4 | digits[1]))
                    rest.removeFirst(2)
                } else {
                    bytes.append(byte)
                }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Problem {
    fileprivate static let tooManyNames = Problem(
        status: .badRequest,
        type: "too-many-names",
        title: "Too many names",
        detail: "Expected at most \(ScrapedNames.maximumNames) name[]; leave them out to get all families."
    )
}
