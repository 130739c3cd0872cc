// SPDX-License-Identifier: Apache-2.0

import EventLedger
package import TestSupport

@testable import LedgerState

extension TemporaryDirectory {
    /// Rewrites the checkpoint of a ledger as a version before the effects of events saved it: without them, without the
    /// increments by cause, and without the clock by which identities grow old.
    package func makeCheckpointOlder() throws {
        try rewriteCheckpoint { key, value in
            if key == "fold/totals" { return Array(value.dropLast(16)) }
            guard key == IngestAccounts.stateKey, let words = LittleEndianWords.words(value) else { return nil }
            let pairs = 4 + Int(words[3])
            var older = Array(words[..<pairs])
            for pair in stride(from: pairs, to: words.count, by: 2) where words[pair] < 65_536 + 16 {
                older += words[pair..<pair + 2]
            }
            return LittleEndianWords.bytes(older)
        }
    }

    /// Rewrites the checkpoint of a ledger as one that continues the state of an earlier version, whose identities are all
    /// that it remembers.
    package func makeCheckpointContinueEarlierOne() throws {
        try rewriteCheckpoint { key, value in
            // The version of the layout, and the last generation without reasons and without hashes.
            key == "fold/about" ? Array(value.prefix(1)) + [UInt8](repeating: 0, count: 16) : nil
        }
    }

    /// - Parameter page: the new content of a page; nil for one that stays.
    private func rewriteCheckpoint(_ page: (StateKey, [UInt8]) -> [UInt8]?) throws {
        let ledger = try EventLedger.open(directory: path, durability: .process, now: startOfTest).ledger
        var changes = StateChanges()
        let saved = try ledger.reader.loadState(LedgerProjection.name) { (key, value) throws(LedgerError) in
            if let content = page(key, value) { changes.put(key, content) }
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
