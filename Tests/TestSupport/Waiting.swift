// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A fact that did not come true in time.
struct DeadlineExceeded: Error, CustomStringConvertible {
    let fact: String
    let limit: Duration

    var description: String { "waited \(limit) for this and it did not come true: \(fact)" }
}

/// Asks until there is an answer, and returns it.
///
/// - Throws: ``DeadlineExceeded`` when the limit passes first, or whatever the probe throws.
func awaited<Value>(
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
func eventually(
    _ fact: @autoclosure () -> String,
    within limit: Duration = .seconds(30),
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws {
    try await awaited(fact(), within: limit, every: pause) { try await condition() ? () : nil }
}

/// Tells running senders to finish what they have begun.
final class StopSignal: Sendable {
    private let stopped = Atomic(false)

    var isSet: Bool { stopped.load(ordering: .acquiring) }

    func set() { stopped.store(true, ordering: .releasing) }
}
