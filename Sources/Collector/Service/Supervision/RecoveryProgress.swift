// SPDX-License-Identifier: Apache-2.0

/// How far a recovery has come: batches folded, and batches in all behind the checkpoint it began with.
struct RecoveryProgress: Hashable, Sendable, CustomStringConvertible {
    var done: Int64
    var total: Int64

    var description: String {
        "recovering, \(done.grouped) of \(max(done, total).grouped) batches"
    }
}

extension BinaryInteger {
    /// The number with a comma between groups of three digits.
    var grouped: String {
        var text = ""
        let digits = String(magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }
}
