// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells the sources to end.
final class SourceStop: Sendable {
    private static let slice = Duration.milliseconds(100)
    private let flag = Atomic(false)

    var isRequested: Bool { flag.load(ordering: .relaxed) }

    func request() { flag.store(true, ordering: .relaxed) }

    /// Waits, and returns false at once when the sources are to end.
    func sleep(_ duration: Duration) async -> Bool {
        var left = duration
        while left > .zero, !isRequested, !Task.isCancelled {
            try? await Task.sleep(for: min(left, Self.slice))
            left -= Self.slice
        }
        return !isRequested && !Task.isCancelled
    }
}
