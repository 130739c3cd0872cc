// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The one scheduled task that serves all deadlines of a connection.
struct ConnectionTimer {
    private var pending: (task: Scheduled<Void>, due: NIODeadline)?

    /// Schedules a check, unless one is scheduled that is due earlier.
    ///
    /// - Parameter check: runs on the event loop; it calls ``expire()`` first.
    mutating func arm(_ due: NIODeadline, on loop: any EventLoop, check: @escaping () -> Void) {
        if let pending {
            guard due < pending.due else { return }
            pending.task.cancel()
        }
        pending = (loop.assumeIsolated().scheduleTask(deadline: due, check), due)
    }

    /// Notes that the task runs.
    mutating func expire() { pending = nil }

    mutating func cancel() {
        pending?.task.cancel()
        pending = nil
    }
}
