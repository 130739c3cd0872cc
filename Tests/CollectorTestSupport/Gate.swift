// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@testable import Collector
@testable import LedgerState

/// Holds a thread until it is opened, for half a minute at most.
final class Gate: Sendable {
    private let opening = DispatchSemaphore(value: 0)
    private let reached = Atomic(false)

    var isReached: Bool { reached.load(ordering: .acquiring) }

    func open() { opening.signal() }

    func pass() {
        reached.store(true, ordering: .releasing)
        _ = opening.wait(timeout: .now() + 30)
    }
}
