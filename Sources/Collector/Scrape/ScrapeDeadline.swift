// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Closes a connection when the answer to a scrape is not written in time, also where the client reads nothing; until it
/// is ended or forgotten.
final class ScrapeDeadline: Sendable {
    private let closing: Scheduled<Void>

    /// - Parameter missed: called on the connection's thread before it is closed.
    init(_ timeout: Duration, of connection: any Channel, missed: @escaping @Sendable () -> Void) {
        closing = connection.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            missed()
            connection.close(promise: nil)
        }
    }

    deinit { end() }

    /// The answer is written, or will never be.
    func end() {
        closing.cancel()
    }
}
