// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import PrefetchLifecycle

/// A row of the ledger without events that halves the limits of the state from there on, because the disk is small
/// (docs/ledger.md, "Room").
///
/// What is evicted depends on the limits, and a rebuild must evict the same, so the ledger records them. The origin of the
/// row tells how often they are halved.
package enum LimitsRow {
    /// The origin of a row that takes the limits as they are; up to `LifecycleFold.maximumHalvings` more for the others.
    private static let firstOrigin: UInt16 = 0x0010

    /// The page of a checkpoint with the halvings in force.
    package static let stateKey: StateKey = "limits"

    /// The content of that page.
    package static func page(halvings: Int) -> [UInt8] { [UInt8(clamping: halvings)] }

    package static func batch(halvings: Int, receivedAt: Int64) -> LedgerBatch {
        let halvings = min(max(halvings, 0), LifecycleFold.maximumHalvings)
        return LedgerBatch(
            receivedAt: receivedAt,
            origin: firstOrigin + UInt16(halvings),
            count: 0,
            receipt: [],
            events: []
        )
    }

    /// How often a row halves the limits; nil for any other row.
    static func halvings(origin: UInt16) -> Int? {
        let halvings = Int(origin) - Int(firstOrigin)
        return (0...LifecycleFold.maximumHalvings).contains(halvings) ? halvings : nil
    }
}
