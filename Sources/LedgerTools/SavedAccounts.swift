// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// The accounts of a checkpoint, with the position that they are true for.
struct SavedAccounts: Equatable {
    var accounts = IngestAccounts()
    var position = LedgerPosition.start

    init() {}

    /// Loads that page alone; before the first checkpoint everything is zero.
    init(from reader: LedgerReader) throws(LedgerError) {
        var page: [UInt8]?
        let saved = try reader.loadState(LedgerProjection.name, keyPrefix: IngestAccounts.stateKey) {
            (key, value) throws(LedgerError) in
            if key == IngestAccounts.stateKey { page = value }
        }
        guard let saved else { return }
        position = saved.position
        guard let page, let accounts = IngestAccounts(encoded: page) else {
            throw .damagedState(projection: LedgerProjection.name, key: IngestAccounts.stateKey)
        }
        self.accounts = accounts
    }

    /// Goes on by a batch; one that the checkpoint knows changes nothing.
    mutating func add(_ stored: StoredBatch, _ receipt: IngestReceipt) {
        guard stored.id > position.batch else { return }
        accounts.add(receipt, accepted: UInt64(stored.batch.count), origin: stored.batch.origin)
        position = stored.position
    }
}
