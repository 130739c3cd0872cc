// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Holds a thread until it is opened, for half a minute at most.
final class Gate: Sendable {
    private let opening = DispatchSemaphore(value: 0)

    func open() { opening.signal() }

    func pass() { _ = opening.wait(timeout: .now() + 30) }
}
