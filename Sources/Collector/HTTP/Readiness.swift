// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Whether the service takes events: from the end of recovery until it stops.
final class Readiness: Sendable {
    private let ready = Atomic(true)

    var isReady: Bool { ready.load(ordering: .relaxed) }

    func stop() { ready.store(false, ordering: .relaxed) }
}
