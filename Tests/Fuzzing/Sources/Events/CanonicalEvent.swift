// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents

/// The canonical JSON of an accepted event: it is JSON to others, and decodes to itself.
struct CanonicalEvent {
    private let line: [UInt8]

    /// The installation is left out: what stands for it is no field that is read. A failure without a reason, as log lines
    /// tell it, is one of `OTHER` where it names an error or a status, of which JSON has its reason.
    init(_ event: Event, in records: [UInt8]) {
        var event = event
        event.installation = nil
        if event.kind == .prefetchFailure, !event.error.isEmpty || event.status != nil {
            event.reason = event.reason ?? .other
        }
        var line: [UInt8] = []
        CanonicalJSON.append(event, in: records.span, to: &line)
        self.line = line
    }

    static func all(in decoded: DecodedEvents) -> [CanonicalEvent] {
        let records = decoded.events.bytes
        var cursor = EventCursor()
        var all: [CanonicalEvent] = []
        while let event = try? cursor.next(in: records.span) { all.append(CanonicalEvent(event, in: records)) }
        return all
    }

    /// The canonical JSON of every event, each with its installation.
    static func lines(of decoded: DecodedEvents) -> [[UInt8]] {
        let records = decoded.events.bytes
        var cursor = EventCursor()
        var lines: [[UInt8]] = []
        while let event = try? cursor.next(in: records.span) {
            var line: [UInt8] = []
            CanonicalJSON.append(event, in: records.span, to: &line)
            lines.append(line)
        }
        return lines
    }

    func checkRoundTrip() {
        guard (try? JSONSerialization.jsonObject(with: Data(line))) is [String: Any] else {
            finding("canonical JSON that Foundation cannot read", line)
        }
        let again = decode(line, .lines)
        guard again.events.count == 1, again.rejected == 0, again.unknownFields == 0 else {
            finding("canonical JSON that the decoder refuses: \(again.rejections)", line)
        }
        for other in Self.all(in: again) where other.line != line {
            finding("canonical JSON that decodes to another event", line, other.line)
        }
    }
}
