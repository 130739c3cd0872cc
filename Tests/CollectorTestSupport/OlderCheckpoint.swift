// SPDX-License-Identifier: Apache-2.0

import EventLedger
package import TestSupport

@testable import LedgerState

extension TemporaryDirectory {
    /// Rewrites the checkpoint of a ledger as a version before the effects of events saved it: without them, without the
    /// increments by cause, and without the clock by which identities grow old.
    package func makeCheckpointOlder() throws {
        let ledger = try EventLedger.open(directory: path, durability: .process, now: startOfTest).ledger
        var changes = StateChanges()
        let saved = try ledger.reader.loadState(LedgerProjection.name) { (key, value) throws(LedgerError) in
            if key == "fold/totals" { changes.put(key, Array(value.dropLast(16))) }
            guard key == IngestAccounts.stateKey, let words = LittleEndianWords.words(value) else { return }
            let pairs = 4 + Int(words[3])
            var older = Array(words[..<pairs])
            for pair in stride(from: pairs, to: words.count, by: 2) where words[pair] < 65_536 + 16 {
                older += words[pair..<pair + 2]
            }
            changes.put(key, LittleEndianWords.bytes(older))
        }
        try ledger.checkpoint(
            projection: LedgerProjection.name,
            at: saved?.position ?? .start,
            changes: changes,
            now: startOfTest
        )
        try ledger.close()
    }

    /// Rewrites the checkpoint of a ledger as one that continues the state of an earlier version, whose identities are all
    /// that it remembers.
    package func makeCheckpointContinueEarlierOne() throws {
        let ledger = try EventLedger.open(directory: path, durability: .process, now: startOfTest).ledger
        var changes = StateChanges()
        let saved = try ledger.reader.loadState(LedgerProjection.name) { (key, value) throws(LedgerError) in
            // The version of the layout, and the last generation of that version.
            if key == "fold/about" { changes.put(key, Array(value.prefix(1)) + [UInt8](repeating: 0, count: 8)) }
        }
        try ledger.checkpoint(
            projection: LedgerProjection.name,
            at: saved?.position ?? .start,
            changes: changes,
            now: startOfTest
        )
        try ledger.close()
    }
}
