// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

@testable import Collector
@testable import LedgerState

/// Events as clients write them.
enum EventText {
    /// An event some seconds after the start of the test.
    static func event(_ kind: String, id: String, second: Int64 = 0, _ members: String = "") -> String {
        let time = Timestamp(microseconds: startOfTest + second * 1_000_000)
        return
            #"{"event":"\#(kind)","scheduleId":"\#(id)","timestamp":"\#(time)"\#(members.isEmpty ? "" : ",")\#(members)}"#
    }

    static func scheduled(_ id: String) -> String { event("prefetch_scheduled", id: id) }

    /// What the decoder makes of some lines.
    static func decode(_ lines: [String], at now: Int64 = startOfTest) -> DecodedEvents {
        JSONEventDecoder.decode(
            Array(lines.joined(separator: "\n").utf8).span,
            framing: .lines,
            receivedAt: Timestamp(microseconds: now),
            pseudonyms: FixedPseudonym(),
            identityKey: identityKey
        )
    }

    static let identityKey = IdentityKey(3, 4)
}

/// The same pseudonym for everyone; the keyed hash has tests of its own.
struct FixedPseudonym: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { Pseudonym(high: 1, low: 2) }
}

extension BatchIdentity {
    /// The identity of lines that come with an `Idempotency-Key`.
    init(_ key: String, _ lines: [String]) {
        let key = Array(key.utf8)
        let body = Array(lines.joined(separator: "\n").utf8)
        self.init(
            key: EventText.identityKey.batch(idempotencyKey: key.span),
            keyAndBody: EventText.identityKey.batch(idempotencyKey: key.span, body: body.span)
        )
    }
}

extension IngestSubmission {
    /// Lines as they come over HTTP, with an `Idempotency-Key` where one is given.
    static func lines(_ lines: [String], key: String? = nil) -> IngestSubmission {
        .events(
            EventText.decode(lines),
            origin: EventOrigin(.http, .ndjson),
            batch: key.map { BatchIdentity($0, lines) }
        )
    }
}
