// SPDX-License-Identifier: Apache-2.0

/// Where one batch begins and ends, without what it carries.
struct BatchEnd {
    /// The position before it.
    let start: LedgerPosition
    /// The position after it.
    let position: LedgerPosition
    let receivedAt: Int64

    /// Takes id, first sequence, count and received time from the first four columns.
    init(_ statement: LedgerStatement) {
        let id = statement.integer(0)
        let sequence = UInt64(bitPattern: max(1, statement.integer(1)) - 1)
        let count = UInt64(UInt32(clamping: statement.integer(2)))
        start = LedgerPosition(batch: id &- 1, sequence: sequence)
        position = LedgerPosition(batch: id, sequence: sequence + count)
        receivedAt = statement.integer(3)
    }
}
