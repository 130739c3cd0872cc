// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The first Ctrl-C (SIGINT) while a live input is read: it ends the input, so that what came is still judged. The
/// second ends the process.
package struct Interruption: Sendable {
    /// How often it is looked for, in milliseconds.
    package static let interval: Int32 = 100
    private static let raised = Atomic(false)

    /// Takes the signal over from now on.
    package init() {
        Self.raised.store(false, ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in Interruption.raised.store(true, ordering: .relaxed) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        unsafe sigaction(SIGINT, &action, nil)
    }

    package var isRaised: Bool { Self.raised.load(ordering: .relaxed) }
}
