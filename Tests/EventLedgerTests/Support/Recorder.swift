// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import EventLedger

/// What a processor was asked to do, seen from outside the writer thread.
final class Recorder: Sendable {
    struct Log: Sendable {
        var prepared: [Int] = []
        var committed: [Int] = []
        var groups: [LedgerPosition] = []
        var settled = 0
        var aborted: [LedgerError] = []
        var known: Set<Int> = []
        var stopped: [LedgerPosition] = []
    }

    private let contents = Mutex(Log())

    var log: Log { contents.withLock { $0 } }

    func change(_ body: (inout Log) -> Void) {
        contents.withLock { body(&$0) }
    }
}
