// SPDX-License-Identifier: Apache-2.0

/// One stream to one receiver: what goes there, and how.
package struct ExportDestination: Sendable, Hashable {
    /// What a stream carries.
    package enum Signal: String, Sendable, Hashable, CaseIterable {
        /// Metrics by OTLP.
        case metrics
        /// Events and verdicts as log records by OTLP.
        case logs
        /// Metrics by Prometheus remote write.
        case remoteWrite = "remote_write"
    }

    /// Names the receiver in metrics, in the log and for its position in the ledger.
    package var name: String
    package var signal: Signal
    package var endpoint: ExportEndpoint
    /// Whether OTLP is sent as JSON.
    package var isJSON = false
    /// Whether OTLP is compressed by gzip; remote write always is, by snappy.
    package var isCompressed = true
    /// The version of remote write; nil begins with 2.0 and falls back to 1.0.
    package var version: RemoteWrite.Version?
    /// Between two pushes of metrics.
    package var interval = Duration.seconds(15)
    /// Of one request.
    package var timeout = Duration.seconds(10)
    package var proxy: ExportEndpoint?
    package var files = ExportConnection.TLSFiles()
    /// A file with headers, one `Name: value` a line, read before each request.
    package var headersFile: String?
    /// Headers that were given in clear.
    package var headers: [MetricsPage.Label] = []

    package init(_ name: String, _ signal: Signal, _ endpoint: ExportEndpoint) {
        self.name = name
        self.signal = signal
        self.endpoint = endpoint
    }
}

/// The headers of an operator, which hold secrets.
package enum ExportHeaders {
    /// The largest file of headers.
    package static let maximumBytes = 16 << 10

    /// Reads `Name: value` a line; nil where a line is something else.
    package static func parse(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var headers: [(String, String)] = []
        for whole in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = String(Substring(whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole))
            if line.isEmpty { continue }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let header = header(String(parts[0]), String(parts[1])) else { return nil }
            headers.append(header)
        }
        return headers
    }

    /// A header without the space around its value; nil where it is none (RFC 9110, 5.1 and 5.5).
    package static func header(_ name: String, _ value: String) -> (name: String, value: String)? {
        let isName =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
        let trimmed = value.drop { $0 == " " || $0 == "\t" }
        guard isName, trimmed.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        var end = trimmed.endIndex
        while end > trimmed.startIndex, trimmed[trimmed.index(before: end)] == " " { end = trimmed.index(before: end) }
        return (name, String(trimmed[..<end]))
    }
}
