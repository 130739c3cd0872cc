// SPDX-License-Identifier: Apache-2.0

@testable import EventLedger

/// Holds the writer thread until it is opened.
final class Gate: @unchecked Sendable {
    private let monitor = Monitor()
    private var isOpen = false
    private var isReached = false

    var reached: Bool { monitor.withLock { isReached } }

    func open() {
        monitor.withLock {
            isOpen = true
            monitor.signal()
        }
    }

    func pass() {
        monitor.withLock {
            isReached = true
            while !isOpen { monitor.wait() }
        }
    }
}
