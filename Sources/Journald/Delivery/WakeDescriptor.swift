// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// A descriptor by which other threads end a thread's wait in poll(2); wake-ups before the wait aren't lost.
final class WakeDescriptor: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        let made = csystemd_event_descriptor()
        guard made >= 0 else { throw .last }
        descriptor = made
    }

    deinit {
        close(descriptor)
    }

    /// Makes the descriptor readable.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes the wake-ups so far; the descriptor isn't readable then.
    func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
