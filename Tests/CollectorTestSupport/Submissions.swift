// SPDX-License-Identifier: Apache-2.0

import LedgerState
import TelemetryEvents
import TestSupport

@testable package import Collector

extension BatchIdentity {
    /// The identity of lines that come with an `Idempotency-Key`.
    package init(_ key: String, _ lines: [String]) {
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
    package static func lines(_ lines: [String], key: String? = nil) -> IngestSubmission {
        .events(
            EventText.decode(lines),
            origin: EventOrigin(.http, .ndjson),
            batch: key.map { BatchIdentity($0, lines) }
        )
    }
}
