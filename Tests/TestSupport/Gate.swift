// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Holds a thread until it is opened, for half a minute at most.
package final class Gate: Sendable {
    private let opening = DispatchSemaphore(value: 0)
    private let reached = Atomic(false)

    package init() {}

    package var isReached: Bool { reached.load(ordering: .acquiring) }

    package func open() { opening.signal() }

    package func pass() {
        reached.store(true, ordering: .releasing)
        _ = opening.wait(timeout: .now() + 30)
    }
}

/// Tells running tasks to finish what they have begun.
package final class StopSignal: Sendable {
    private let stopped = Atomic(false)

    package init() {}

    package var isSet: Bool { stopped.load(ordering: .acquiring) }

    package func set() { stopped.store(true, ordering: .releasing) }
}
