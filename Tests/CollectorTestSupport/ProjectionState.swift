// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import PrefetchLifecycle
import TestSupport

@testable package import LedgerState

/// The whole state of the projections in the form in which a checkpoint holds it.
package struct ProjectionState: Equatable {
    package let pages: [String: [UInt8]]
    package let position: LedgerPosition

    /// What the last checkpoint of a ledger holds.
    package init(savedIn reader: LedgerReader) throws {
        var pages: [String: [UInt8]] = [:]
        let saved = try reader.loadState(LedgerProjection.name) { (key, value) throws(LedgerError) in
            pages["\(key)"] = value
        }
        self.pages = pages
        position = saved?.position ?? .start
    }

    /// What folding every batch of a ledger from the start gives.
    package init(refolding reader: LedgerReader, limits: LifecycleLimits) throws {
        var projection = try LedgerProjection.refolded(from: reader, limits: limits)
        var pages = [IngestAccounts.stateKey.description: projection.accounts.encoded]
        for source in projection.sources.sources {
            pages["\(StateKey("source/").appending(source))"] = projection.sources.page(of: source)
        }
        var delta = projection.takeFoldChanges()
        while let page = delta.takePage() { pages["fold/" + page.key] = page.value }
        self.pages = pages
        position = projection.position
    }

    /// The names of the pages that differ, for messages.
    package func difference(from other: ProjectionState) -> [String] {
        Set(pages.keys).union(other.pages.keys).filter { pages[$0] != other.pages[$0] }.sorted()
    }
}

extension LedgerProjection {
    /// Folds the batches of a ledger from the start, up to a batch when one is given.
    package static func refolded(
        from reader: LedgerReader,
        limits: LifecycleLimits = LifecycleLimits(),
        upTo end: Int64 = .max
    ) throws -> LedgerProjection {
        var projection = LedgerProjection(identityKey: EventText.identityKey, limits: limits)
        while true {
            let batches = try reader.read(afterBatch: projection.position.batch)
            guard !batches.isEmpty else { return projection }
            for stored in batches {
                guard stored.id <= end else { return projection }
                try projection.apply(stored.batch, at: stored.position)
            }
        }
    }
}
