// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import MetricsRegistry

/// What a scrape asks for.
struct ScrapeRequest: Sendable {
    var format: ExpositionFormat
    var coding: ContentCoding
    /// The families to show; nil for all.
    var names: Set<String>?
    /// How long the answer may take, in whole.
    var timeout: Duration

    /// - Parameter createdSamples: whether OpenMetrics and protobuf tell when counters and histograms began.
    init(_ request: Request, createdSamples: Bool) throws(Problem) {
        format = .negotiated(accept: request.headers[.accept])
        format.createdSamples = createdSamples
        coding = .negotiated(acceptEncoding: request.headers[.acceptEncoding])
        names = try ScrapedNames.of(query: request.uri.query)
        timeout = ScrapeTimeout.of(HTTPField.Name(ScrapeTimeout.header).flatMap { request.headers[$0] })
    }
}

/// How long an answer to a scrape may take, in whole.
enum ScrapeTimeout {
    /// Prometheus tells here, in seconds, when it will give up.
    static let header = "X-Prometheus-Scrape-Timeout-Seconds"
    /// Without that: what Prometheus waits by default.
    static let `default` = Duration.seconds(10)
    /// No client is given less or more, in seconds.
    private static let bounds = 0.1...120
    /// What the network is given, in seconds, so that we give up first.
    private static let offset = 0.5

    /// The time for a client that sends such a header; one that is no positive decimal number is as good as none.
    static func of(_ value: String?) -> Duration {
        guard let value, value.utf8.count <= 32, value.utf8.allSatisfy(isDigitOrPoint), let seconds = Double(value),
            seconds > 0
        else { return `default` }
        let wanted = max(seconds - offset, seconds / 2)
        return .seconds(min(max(wanted, bounds.lowerBound), bounds.upperBound))
    }

    private static func isDigitOrPoint(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
    }
}

/// The families that a scrape asks for by `name[]=`, each with or without its `_total`.
enum ScrapedNames {
    /// How many may be asked for.
    static let most = 1_000

    /// Reads the query of a request; nil when it names no families, and so asks for all.
    static func of(query: String?) throws(Problem) -> Set<String>? {
        guard let query else { return nil }
        var names: Set<String> = []
        var count = 0
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, decoded(key) == "name[]" else { continue }
            count += 1
            guard count <= most else { throw .tooManyNames }
            let name = parts.count > 1 ? decoded(parts[1]) : ""
            names.insert(name)
            names.insert(name + "_total")
        }
        return count == 0 ? nil : names
    }

    /// Undoes the coding of a form (`+`, `%5B`); what is no code stays as it is.
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
