// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A fact that did not come true in time.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let fact: String
    package let limit: Duration

    package init(fact: String, limit: Duration) {
        self.fact = fact
        self.limit = limit
    }

    package var description: String { "waited \(limit) for this and it did not come true: \(fact)" }
}

/// Asks until there is an answer, and returns it.
///
/// - Throws: ``DeadlineExceeded`` when the limit passes first, or whatever the probe throws.
package func awaited<Value>(
    _ fact: @autoclosure () -> String,
    within limit: Duration = .seconds(30),
    every pause: Duration = .milliseconds(20),
    _ probe: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: limit)
    while true {
        if let value = try await probe() { return value }
        guard clock.now < deadline else { throw DeadlineExceeded(fact: fact(), limit: limit) }
        try await Task.sleep(for: pause)
    }
}

/// Asks until the fact holds.
package func eventually(
    _ fact: @autoclosure () -> String,
    within limit: Duration = .seconds(30),
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws {
    try await awaited(fact(), within: limit, every: pause) { try await condition() ? () : nil }
}

/// Tells running senders to finish what they have begun.
package final class StopSignal: Sendable {
    package init() {}

    private let stopped = Atomic(false)

    package var isSet: Bool { stopped.load(ordering: .acquiring) }

    package func set() { stopped.store(true, ordering: .releasing) }
}
