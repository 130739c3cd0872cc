// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Journald
internal import Logging
internal import Synchronization

/// The line to the service manager: messages go out in their order, on a thread that nothing else depends on, because
/// sd_notify(3) waits while the manager's queue is full.
final class ManagerLine: Sendable {
    /// The most messages that wait; a manager that takes none gets no more.
    private static let limit = 64

    private let socket: NotificationSocket
    private let log: Logger
    private let queue = DispatchQueue(label: "service-manager")
    private let waiting = Atomic(0)
    private let hasFailed = Atomic(false)

    init(_ socket: NotificationSocket, _ log: Logger) {
        self.socket = socket
        self.log = log
    }

    func send(_ notifications: [ServiceNotification]) {
        guard !notifications.isEmpty else { return }
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.limit else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        queue.async { [self] in
            defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
            do throws(SystemError) {
                try socket.send(notifications)
                hasFailed.store(false, ordering: .relaxed)
            } catch {
                guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
                log.warning("the service manager hears nothing at NOTIFY_SOCKET: \(error)")
            }
        }
    }

    /// Waits until all is sent, for a second at most.
    func flush() {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .seconds(1))
    }
}
