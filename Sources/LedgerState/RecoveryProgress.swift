// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

/// How far a recovery has come: batches folded, and batches in all behind the checkpoint it began with.
package struct RecoveryProgress: Hashable, Sendable, CustomStringConvertible {
    package var done: Int64
    package var total: Int64

    package var description: String {
        "recovering, \(done.grouped) of \(max(done, total).grouped) batches"
    }
}
