// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import Journald

extension StreamNames {
    /// The names of a ledger's entries in the journal: its lives from the one that the next number belongs to, and the
    /// one before, which may turn out to have given more numbers than was known.
    ///
    /// - Parameter confirmed: the last number that is confirmed.
    package init(_ lives: [LedgerLife], after confirmed: UInt64) {
        let next = lives.lastIndex { $0.after.sequence <= confirmed } ?? 0
        let used = lives[max(0, next - 1)...]
        self.init(used.first?.id ?? "", after: used.first?.after.sequence ?? 0)
        for life in used.dropFirst() { proceed(as: life.id, after: life.after.sequence) }
    }
}
