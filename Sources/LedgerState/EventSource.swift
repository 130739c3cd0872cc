// SPDX-License-Identifier: Apache-2.0

/// The source of events: a label of `dnp_telemetry_events_received_total` and, with the format, the ledger's origin.
/// Raw values are stored in the ledger.
package enum EventSource: UInt8, CaseIterable, Sendable {
    /// The service itself.
    case collector = 0
    case http = 1
    case stdin = 2
    case file = 3
    case journal = 4
    /// The Unix stream socket of lines.
    case socket = 5

    package var name: String {
        switch self {
        case .collector: "collector"
        case .http: "http"
        case .stdin: "stdin"
        case .file: "file"
        case .journal: "journal"
        case .socket: "socket"
        }
    }
}

/// The format of received events.
package enum EventFormat: UInt8, CaseIterable, Sendable {
    /// The verdicts on closed cycles, which no sender can make.
    case verdict = 0
    case json = 1
    case ndjson = 2
    case log = 3

    package var name: String {
        switch self {
        case .verdict: "verdict"
        case .json: "json"
        case .ndjson: "ndjson"
        case .log: "log"
        }
    }
}

/// Source and format as the ledger stores them.
package struct EventOrigin: Hashable, Sendable {
    package var source: EventSource
    package var format: EventFormat

    /// The origin of a tick, which advances the fold's clock and holds the verdicts on the cycles that it closes.
    package static let tick = EventOrigin(.collector, .verdict)

    /// The combinations in use: lines from every source, JSON over HTTP, verdicts from ticks.
    package static let allCases = [
        EventOrigin(.http, .json), EventOrigin(.http, .ndjson), EventOrigin(.http, .log), EventOrigin(.stdin, .log),
        EventOrigin(.file, .log), EventOrigin(.journal, .log), EventOrigin(.socket, .log), .tick,
    ]

    package init(_ source: EventSource, _ format: EventFormat) {
        self.source = source
        self.format = format
    }

    package init?(rawValue: UInt16) {
        guard
            let source = EventSource(rawValue: UInt8(truncatingIfNeeded: rawValue >> 8)),
            let format = EventFormat(rawValue: UInt8(truncatingIfNeeded: rawValue))
        else { return nil }
        self.init(source, format)
    }

    package var rawValue: UInt16 { UInt16(source.rawValue) << 8 | UInt16(format.rawValue) }
}

/// The classification of a log line; a label of `dnp_telemetry_log_lines_total`. Raw values are stored in the ledger.
package enum LineResult: Int, CaseIterable, Sendable {
    case recognised = 0
    case foreign = 1
    case unrecognised = 2
}
