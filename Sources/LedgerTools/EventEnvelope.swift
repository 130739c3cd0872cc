// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import TelemetryEvents

/// One line of JSON about an event of the ledger, or a verdict:
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
        let origin = EventOrigin(rawValue: stored.batch.origin)
        middle.append(contentsOf: Self.quoted(origin?.source.name).utf8)
        middle.append(#","format":"#)
        middle.append(contentsOf: Self.quoted(origin?.format.name).utf8)
        middle.append(#","event":"#)
        self.middle = middle
    }

    func append(_ record: LedgerRecord, in records: Span<UInt8>, sequence: UInt64, to output: inout [UInt8]) {
        output.append(Self.start)
        output.appendDecimal(sequence)
        output.append(contentsOf: middle)
        switch record {
        case .event(let event): CanonicalJSON.append(event, in: records, to: &output)
        case .verdict(let verdict): output.append(contentsOf: verdict.json)
        }
        output.append("}\n")
    }

    private static func quoted(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "null" }
}
