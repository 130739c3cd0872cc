// SPDX-License-Identifier: Apache-2.0

/// Where bytes came from; a label of `dnp_telemetry_events_received_total` and, with the format, the ledger's origin.
enum EventSource: UInt8, CaseIterable, Sendable {
    case http = 1

    var name: String {
        switch self {
        case .http: "http"
        }
    }
}

/// In which form the bytes came.
enum EventFormat: UInt8, CaseIterable, Sendable {
    case json = 1
    case ndjson = 2

    var name: String {
        switch self {
        case .json: "json"
        case .ndjson: "ndjson"
        }
    }
}

/// Source and format as the ledger stores them.
struct EventOrigin: Hashable, Sendable {
    var source: EventSource
    var format: EventFormat

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
