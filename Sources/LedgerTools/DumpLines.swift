// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hashing
internal import LedgerState
internal import TelemetryEvents

/// One line of JSON about a row of the ledger: a batch with its receipt, or a tick.
enum RowLine {
    /// - Parameter receipt: the row's receipt; nil where it cannot be read.
    static func append(_ stored: StoredBatch, _ receipt: IngestReceipt?, to output: inout [UInt8]) {
        let batch = stored.batch
        let origin = EventOrigin(rawValue: batch.origin)
        var json = JSONWriter()
        json.object { json in
            json.name("batch")
            json.value(stored.id)
            json.name("seq")
            json.value(batch.count > 0 ? Int64(clamping: stored.firstSequence) : nil)
            json.name("count")
            json.value(UInt64(batch.count))
            json.name("received")
            json.value(Timestamp(microseconds: batch.receivedAt))
            json.name("source")
            json.value(origin?.source.name)
            json.name("format")
            json.value(origin?.format.name)
            json.name("bytes")
            json.value(UInt64(batch.events.count))
            json.name("receipt")
            if let receipt {
                append(receipt, to: &json)
            } else {
                json.value(nil as String?)
            }
        }
        output.append(contentsOf: json.bytes)
        output.append("\n")
    }

    private static func append(_ receipt: IngestReceipt, to json: inout JSONWriter) {
        json.object { json in
            json.name("duplicates")
            json.value(receipt.duplicates)
            json.name("rejected")
            json.object { json in
                for reason in RejectionReason.allCases where receipt.rejected[Int(reason.rawValue)] > 0 {
                    json.name(reason.name)
                    json.value(receipt.rejected[Int(reason.rawValue)])
                }
            }
            json.name("unknownFields")
            json.value(receipt.unknownFields)
            if !receipt.altered.isEmpty {
                json.name("altered")
                json.object { json in
                    for field in ShapedField.allCases where receipt.altered[field] > 0 {
                        json.name(field.name)
                        json.value(receipt.altered[field])
                    }
                }
            }
            json.name("lines")
            json.object { json in
                for result in LineResult.allCases {
                    json.name(result.staticName)
                    json.value(receipt.lines[result.rawValue])
                }
            }
            json.name("batchIdentity")
            json.value(receipt.batchIdentities.first.map(hexadecimal))
            json.name("position")
            guard let position = receipt.position else {
                json.value(nil as String?)
                return
            }
            json.object { json in
                json.name("source")
                json.value(hexadecimal(position.source))
                json.name("hash")
                json.value(hash(position.bytes))
            }
        }
    }

    /// The first 64 bits of SHA-256; the position itself may hold the beginning of a line, which is not disclosed.
    private static func hash(_ bytes: [UInt8]) -> String {
        hexadecimal(SHA256Hash.digest(bytes).first)
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        String(decoding: [UInt8](hexadecimal: word), as: UTF8.self)
    }
}

extension LineResult {
    fileprivate var staticName: StaticString {
        switch self {
        case .recognised: "recognised"
        case .foreign: "foreign"
        case .unrecognised: "unrecognised"
        }
    }
}

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
        case .cycle(let verdict): output.append(contentsOf: verdict.json)
        case .run(let verdict): output.append(contentsOf: verdict.json)
        }
        output.append("}\n")
    }

    private static func quoted(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "null" }
}
