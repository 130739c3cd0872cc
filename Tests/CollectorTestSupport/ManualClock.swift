// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Synchronization

@testable import Collector
@testable import LedgerState

/// 2025-11-15 in microseconds.
let startOfTest: Int64 = 1_763_185_000_000_000

/// A clock of the ledger that stands still until it is moved.
final class ManualClock: Sendable {
    private let time = Mutex(startOfTest)

    var now: Int64 { time.withLock { $0 } }

    func advance(seconds: Int64) {
        time.withLock { $0 += seconds * 1_000_000 }
    }

    /// The wall time from here, the monotonic time from the machine.
    var ledgerClock: LedgerClock {
        LedgerClock(now: { self.now }, monotonic: LedgerClock.system.monotonic)
    }
}
