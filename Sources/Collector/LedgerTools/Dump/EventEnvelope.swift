// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import TelemetryEvents

/// One line of JSON about an event of the ledger:
/// `{"seq":n,"batch":n,"received":"...","source":"http","format":"json","event":{...}}`, the event as in the journal.
struct EventEnvelope {
    private static let start: StaticString = #"{"seq":"#
    private let middle: [UInt8]

    /// The envelope of a batch's events.
    init(_ stored: StoredBatch) {
        var middle = Array(#","batch":"#.utf8)
        middle.appendDecimal(stored.id)
        middle.append(#","received":""#)
        Timestamp(microseconds: stored.batch.receivedAt).appendRFC3339(to: &middle)
        middle.append(#"","source":"#)
        let origin = OriginName(stored.batch.origin)
        middle.append(contentsOf: "\(Self.quoted(origin.source)),\"format\":\(Self.quoted(origin.format))".utf8)
        middle.append(#","event":"#)
        self.middle = middle
    }

    func append(_ event: Event, in records: Span<UInt8>, sequence: UInt64, to output: inout [UInt8]) {
        output.append(Self.start)
        output.appendDecimal(sequence)
        output.append(contentsOf: middle)
        CanonicalJSON.append(event, in: records, to: &output)
        output.append("}\n")
    }

    private static func quoted(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "null" }
}

/// Source and format of a row in words; nil for what this version does not know.
struct OriginName {
    let source: String?
    let format: String?

    init(_ code: UInt16) {
        let origin = EventOrigin(rawValue: code)
        source = code == IngestProcessor.tickOrigin ? "tick" : origin?.source.name
        format = origin?.format.name
    }
}
