// SPDX-License-Identifier: Apache-2.0

/// A condition that did not hold in time.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let fact: String
    package let limit: Duration

    package init(fact: String, limit: Duration) {
        self.fact = fact
        self.limit = limit
    }

    package var description: String { "waited \(limit) in vain: \(fact)" }
}

/// Polls until there is a value, and returns it.
///
/// - Parameter pause: the pause between two probes. A long wait makes longer ones, five times as long at most, because
///   probes take time from what is waited for.
/// - Throws: ``DeadlineExceeded`` when the limit passes first, or whatever the probe throws.
package func awaited<Value>(
    _ fact: @autoclosure () -> String,
    within limit: Duration = .seconds(30),
    every pause: Duration = .milliseconds(20),
    _ probe: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let start = clock.now
    while true {
        if let value = try await probe() { return value }
        let waited = clock.now - start
        guard waited < limit else { throw DeadlineExceeded(fact: fact(), limit: limit) }
        try await Task.sleep(for: max(pause, min(waited / 10, pause * 5)))
    }
}

/// Polls until the condition holds.
package func eventually(
    _ fact: @autoclosure () -> String,
    within limit: Duration = .seconds(30),
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws {
    try await awaited(fact(), within: limit, every: pause) { try await condition() ? () : nil }
}
