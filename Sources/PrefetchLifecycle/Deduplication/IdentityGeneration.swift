// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The identities that arrived in one stretch of time, forgotten together.
///
/// They are spread over 64 tables by their first bits, so that growing one never stops the writer for long.
struct IdentityGeneration: Sendable {
    static let pageCapacity = 4_096

    let number: UInt32
    let startedAt: Timestamp
    private var tables: [IdentityTable]
    private(set) var count = 0
    /// The identities of the last, unfilled page of the checkpoint and how many pages are filled before it.
    private var lastPage: [UInt64] = []
    private var filledPages: [[UInt64]] = []
    private var firstUnsavedPage: UInt32 = 0
    /// False from the start, so that a generation in which nothing came is in the checkpoint with its time.
    private var isLastPageSaved = false

    init(number: UInt32, startedAt: Timestamp) {
        self.number = number
        self.startedAt = startedAt
        tables = Array(repeating: IdentityTable(), count: 64)
    }

    var byteCount: Int { tables.reduce(0) { $0 + $1.byteCount } }

    func contains(_ identity: UInt64) -> Bool {
        tables[Int(identity >> 58)].contains(identity << 6)
    }

    mutating func insert(_ identity: UInt64) {
        guard tables[Int(identity >> 58)].insert(identity << 6) else { return }
        count += 1
        lastPage.append(identity)
        isLastPageSaved = false
        if lastPage.count == Self.pageCapacity {
            filledPages.append(lastPage)
            lastPage.removeAll(keepingCapacity: true)
            isLastPageSaved = true
        }
    }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        for page in filledPages {
            delta.append(.identities(IdentityPage(page, of: self, number: firstUnsavedPage)))
            firstUnsavedPage += 1
        }
        filledPages.removeAll()
        if !isLastPageSaved {
            delta.append(.identities(IdentityPage(lastPage, of: self, number: firstUnsavedPage)))
            isLastPageSaved = true
        }
    }

    /// Takes in a page of a checkpoint; pages come in their order.
    mutating func restore(_ identities: [UInt64], page: UInt32) {
        for identity in identities where tables[Int(identity >> 58)].insert(identity << 6) { count += 1 }
        isLastPageSaved = true
        if identities.count < Self.pageCapacity {
            lastPage = identities
            firstUnsavedPage = page
        } else {
            firstUnsavedPage = page + 1
        }
    }
}
