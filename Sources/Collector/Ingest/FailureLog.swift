// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging

/// Logs when the ledger stops storing and when it recovers: once for each stretch and kind of failure.
struct FailureLog: Sendable {
    private let log: Logger
    private var last: String?

    init(_ log: Logger) {
        self.log = log
    }

    mutating func failed(_ error: LedgerError) {
        let sentence = error.description
        guard sentence != last else { return }
        last = sentence
        log.error("events are not acknowledged: \(sentence)")
    }

    mutating func recovered() {
        guard last != nil else { return }
        last = nil
        log.notice("the ledger stores again; events are acknowledged")
    }
}
