// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Tells running senders to finish what they have begun.
final class StopSignal: Sendable {
    private let stopped = Atomic(false)

    var isSet: Bool { stopped.load(ordering: .acquiring) }

    func set() { stopped.store(true, ordering: .releasing) }
}
