// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// What a rebuild of the projections came to.
package struct RebuildReport: Hashable, Sendable {
    /// What there was to compare.
    package enum Result: String, Sendable {
        /// The rebuilt state is the saved one, byte by byte.
        case equal
        case different
        /// Batches are gone that the saved state was made of; it can only be gone on from.
        case notComparable = "not_comparable"
    }

    /// A page that is not the same on both sides.
    struct Page: Hashable, Sendable {
        enum Difference: String, Sendable {
            case content
            case notSaved = "not_saved"
            case savedOnly = "saved_only"
        }

        let name: String
        let difference: Difference
    }

    /// A sample of the metrics page that is not the same on both sides.
    struct Counter: Hashable, Sendable {
        let name: String
        let saved: String?
        let rebuilt: String?
    }

    /// How the comparison went.
    package internal(set) var result: Result
    /// Whether the rebuilt state was saved.
    package internal(set) var isWritten = false
    /// The position that the saved state is true for; nil when none was ever saved.
    var saved: LedgerPosition?
    /// Up to where batches were deleted.
    var pruned: LedgerPosition
    /// Where the ledger ends.
    var end: LedgerPosition
    /// The batches and events that were folded.
    var batches: UInt64 = 0
    var events: UInt64 = 0
    /// How many pages are saved.
    var savedPages = 0
    var pages: [Page] = []
    var counters: [Counter] = []
    /// What could not be read or compared.
    var problems: [String] = []
}
