// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import PrefetchLifecycle

/// What has changed in the projections since the last checkpoint, as of one position, to be written in parts.
package struct ProjectionChanges: Sendable {
    /// What a name to delete counts for in the size of a part.
    private static let deletionBytes = 16 << 10

    /// The position that the projections' state is true for with these changes.
    let position: LedgerPosition
    private var small: StateChanges?
    private var fold: StateDelta

    /// - Parameters:
    ///   - small: changes that fit into one part.
    ///   - fold: the fold's.
    init(at position: LedgerPosition, small: StateChanges, fold: StateDelta) {
        self.position = position
        self.small = small
        self.fold = fold
    }

    /// The next part, of about so many bytes or a page more; nil when all were taken.
    package mutating func takePart(bytes: Int) -> StateChanges? {
        var part = small ?? StateChanges()
        small = nil
        let deleted = fold.takeDeletedPrefixes(max(0, bytes - part.bytes) / Self.deletionBytes + 1)
        for prefix in deleted { part.removeAll(prefix: StateKey("fold/" + prefix)) }
        let rest = bytes - deleted.count * Self.deletionBytes
        while part.bytes < rest, let page = fold.takePage() { part.put(StateKey("fold/" + page.key), page.value) }
        return part.isEmpty ? nil : part
    }
}
