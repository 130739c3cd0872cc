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

/// Logs when the mark of what was acknowledged cannot be written, and when it is written again (docs/ledger.md#lives).
struct MarkLog: Sendable {
    private let log: Logger
    private var last: Int32?

    init(_ log: Logger) {
        self.log = log
    }

    /// - Parameter failure: why the last write of the mark failed; nil after one that succeeded.
    mutating func look(at failure: LedgerMarkFailure?) {
        guard failure?.code != last else { return }
        last = failure?.code
        if let failure {
            log.error("\(failure)", metadata: ["events": "\(failure.events)"])
        } else {
            log.notice("the ledger's mark is written again, and shows everything that is acknowledged")
        }
    }
}
