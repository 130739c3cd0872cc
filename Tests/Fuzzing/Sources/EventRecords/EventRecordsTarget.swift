// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Reads an input as compact records, as a damaged ledger would hold them, and does with the events what the service
/// does: identify, render, and encode again.
enum EventRecordsTarget: FuzzTarget {
    static func check(_ records: [UInt8]) {
        let key = IdentityKey(1, 2)
        var cursor = EventCursor()
        while let event = try? cursor.next(in: records.span) {
            let identity = key.identity(of: event, in: records.span)
            let cycle = key.cycle(of: event, in: records.span)
            var again = EventBatch()
            again.append(event, texts: records.span)
            var second = EventCursor()
            guard let copy = try? second.next(in: again.bytes.span), second.offset == again.bytes.count else {
                finding("a record that is read and cannot be read again once encoded", rendered(event, records))
            }
            guard
                key.identity(of: copy, in: again.bytes.span) == identity,
                key.cycle(of: copy, in: again.bytes.span) == cycle
            else { finding("a record whose identity changes when it is encoded again", rendered(event, records)) }
            let line = rendered(event, records)
            let other = rendered(copy, again.bytes)
            if line != other { finding("a record that changes when it is encoded again", line, other) }
            if line.contains(0x0A) { finding("canonical JSON of more than one line", line) }
        }
        guard cursor.offset <= records.count else {
            finding("the cursor at \(cursor.offset) of \(records.count) bytes")
        }
    }
}

private func rendered(_ event: Event, _ records: [UInt8]) -> [UInt8] {
    var line: [UInt8] = []
    CanonicalJSON.append(event, in: records.span, to: &line)
    return line
}
