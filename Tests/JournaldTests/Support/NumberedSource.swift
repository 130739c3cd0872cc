// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import Journald

/// A source of numbered entries, with more to come.
final class NumberedSource: JournalSource {
    private let last: Atomic<UInt64>
    private let padding: String
    private let isLeftOut: @Sendable (UInt64) -> Bool
    let reads = Atomic<Int>(0)

    init(upTo last: UInt64, padding: String = "", leavingOut: @escaping @Sendable (UInt64) -> Bool = { _ in false }) {
        self.last = Atomic(last)
        self.padding = padding
        isLeftOut = leavingOut
    }

    func extend(to number: UInt64) {
        last.store(number, ordering: .releasing)
    }

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        reads.add(1, ordering: .relaxed)
        let last = last.load(ordering: .acquiring)
        guard sequence < last else { return }
        for number in sequence + 1...last {
            guard buffer.count < limit, !buffer.isFull else { return }
            guard !isLeftOut(number) else { continue }
            try buffer.append(sequence: number) { entry in
                entry.append(.priority, 6)
                entry.append(.message, "entry \(number)\(padding)")
                entry.append("TEST_LENGTH", padding.utf8.count)
            }
        }
    }
}
