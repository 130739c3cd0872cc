// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Journald
internal import Logging
internal import Synchronization

/// The line to the service manager: messages go out in their order, on a thread that nothing else depends on, because
/// sd_notify(3) waits while the manager's queue is full.
final class ManagerLine: Sendable {
    /// The most messages that wait; of a manager that takes none, those that the next of its kind stands for are kept back
    /// then. What it waits for itself, READY and STOPPING for two, always goes out.
    private static let limit = 64

    private let transmit: @Sendable ([ServiceNotification]) throws(SystemError) -> Void
    private let log: Logger
    private let queue = DispatchQueue(label: "service-manager")
    private let waiting = Atomic(0)
    private let hasFailed = Atomic(false)

    /// - Parameter transmit: hands one message over, and may wait.
    init(_ log: Logger, transmit: @escaping @Sendable ([ServiceNotification]) throws(SystemError) -> Void) {
        self.transmit = transmit
        self.log = log
    }

    func send(_ notifications: [ServiceNotification]) {
        guard !notifications.isEmpty else { return }
        let count = waiting.wrappingAdd(1, ordering: .relaxed).newValue
        guard count <= Self.limit || !notifications.allSatisfy(\.isRepeated) else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        queue.async { [self] in
            defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
            do throws(SystemError) {
                try transmit(notifications)
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

extension ServiceNotification {
    /// Whether a later one of its kind stands for it.
    fileprivate var isRepeated: Bool {
        switch self {
        case .status, .watchdog, .extendTimeout: true
        case .ready, .reloading, .stopping, .errno: false
        }
    }
}
