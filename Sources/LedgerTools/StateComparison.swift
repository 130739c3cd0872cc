// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hashing

/// Compares the pages of a saved state with those of a rebuilt one, by name and content.
struct StateComparison {
    /// The saved pages; only their hashes are kept.
    private var saved: [StateKey: SHA256Digest] = [:]

    private var differences: [StateKey: RebuildReport.Page.Difference] = [:]

    /// Takes in a saved page.
    mutating func add(saved key: StateKey, _ value: [UInt8]) {
        saved[key] = SHA256Hash.digest(value)
    }

    /// How many pages were saved; before any is compared.
    var savedPages: Int { saved.count }

    /// Compares a rebuilt page, once.
    mutating func add(rebuilt key: StateKey, _ value: [UInt8]) {
        switch saved.removeValue(forKey: key) {
        case nil: differences[key] = .notSaved
        case let digest?: if digest != SHA256Hash.digest(value) { differences[key] = .content }
        }
    }

    /// What differs, by name, after every rebuilt page was compared.
    var pages: [RebuildReport.Page] {
        let all = differences.merging(saved.mapValues { _ in .savedOnly }) { first, _ in first }
        return all.sorted { $0.key < $1.key }.map { RebuildReport.Page(name: "\($0.key)", difference: $0.value) }
    }
}
