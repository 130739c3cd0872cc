// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import EventLedger

/// Compares the pages of a saved state with those of a rebuilt one, by name and content.
struct StateComparison {
    /// The saved pages; only their hashes are kept.
    private var saved: [StateKey: SHA256.Digest] = [:]

    /// How many pages are saved.
    var count: Int { saved.count }

    mutating func add(_ key: StateKey, _ value: [UInt8]) {
        saved[key] = SHA256.hash(data: value)
    }

    /// What differs, by name.
    func differences(from rebuilt: [StateKey: [UInt8]]) -> [RebuildReport.Page] {
        Set(saved.keys).union(rebuilt.keys).sorted().compactMap { key in
            switch (saved[key], rebuilt[key]) {
            case (nil, _): RebuildReport.Page(name: "\(key)", difference: .notSaved)
            case (_, nil): RebuildReport.Page(name: "\(key)", difference: .savedOnly)
            case (let digest?, let value?):
                digest == SHA256.hash(data: value) ? nil : RebuildReport.Page(name: "\(key)", difference: .content)
            }
        }
    }
}
