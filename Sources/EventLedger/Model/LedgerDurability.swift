// SPDX-License-Identifier: Apache-2.0

/// What a commit survives.
public enum LedgerDurability: String, Sendable, CaseIterable {
    /// The end of the process by any means; the last commits may be lost with the machine's power.
    case process
    /// The loss of power: every commit waits for the disk.
    case power
}
