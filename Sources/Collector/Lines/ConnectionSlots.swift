// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many connections are served at once; for further ones it is waited until one of them ends.
final class ConnectionSlots: Sendable {
    private static let pause = Duration.milliseconds(50)

    private let limit: Int
    private let taken = Mutex(0)

    init(_ limit: Int) {
        self.limit = max(1, limit)
    }

    /// Waits for a slot; false when the service stops.
    func take(unless stop: SourceStop) async -> Bool {
        repeat {
            let isTaken = taken.withLock { taken in
                guard taken < limit else { return false }
                taken += 1
                return true
            }
            if isTaken { return true }
        } while await stop.sleep(Self.pause)
        return false
    }

    func giveBack() {
        taken.withLock { $0 -= 1 }
    }
}
