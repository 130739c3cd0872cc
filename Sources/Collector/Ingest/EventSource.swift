// SPDX-License-Identifier: Apache-2.0

/// Where bytes came from; a label of `dnp_telemetry_events_received_total` and, with the format, the ledger's origin.
enum EventSource: UInt8, CaseIterable, Sendable {
    case http = 1
    case stdin = 2
    case file = 3

    var name: String {
        switch self {
        case .http: "http"
        case .stdin: "stdin"
        case .file: "file"
        }
    }
}

/// In which form the bytes came.
enum EventFormat: UInt8, CaseIterable, Sendable {
    case json = 1
    case ndjson = 2
    case log = 3

    var name: String {
        switch self {
        case .json: "json"
        case .ndjson: "ndjson"
        case .log: "log"
        }
    }
}

/// Source and format as the ledger stores them.
struct EventOrigin: Hashable, Sendable {
    var source: EventSource
    var format: EventFormat

    /// Those that there are: lines come from everywhere, JSON over HTTP.
    static let allCases = [
        EventOrigin(.http, .json), EventOrigin(.http, .ndjson), EventOrigin(.http, .log), EventOrigin(.stdin, .log),
        EventOrigin(.file, .log),
    ]

    init(_ source: EventSource, _ format: EventFormat) {
        self.source = source
        self.format = format
    }

    init?(rawValue: UInt16) {
        guard
            let source = EventSource(rawValue: UInt8(truncatingIfNeeded: rawValue >> 8)),
            let format = EventFormat(rawValue: UInt8(truncatingIfNeeded: rawValue))
        else { return nil }
        self.init(source, format)
    }

    var rawValue: UInt16 { UInt16(source.rawValue) << 8 | UInt16(format.rawValue) }
}

/// What became of a line of a log; a label of `dnp_telemetry_log_lines_total`. Raw values are stored in the ledger.
enum LineResult: Int, CaseIterable, Sendable {
    case recognised = 0
    case foreign = 1
    case unrecognised = 2
}
