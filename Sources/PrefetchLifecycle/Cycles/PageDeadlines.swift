// SPDX-License-Identifier: Apache-2.0

/// For each page of cycles a second before which none of them closes, so that what is due is found without a look at
/// every cycle. Four bytes a page.
///
/// It is exact after a search and may be too early later, never too late. What is found never depends on it.
struct PageDeadlines: Sendable {
    private var earliest: [UInt32] = []

    mutating func appendPage() { earliest.append(.max) }

    mutating func removeLastPage() { earliest.removeLast() }

    /// Notes when a cycle closes; 0 stands for one that no event was told to yet, which cannot be due.
    mutating func note(_ second: UInt32, page: Int) {
        if second < earliest[page], second != 0 { earliest[page] = second }
    }

    func mayBeDue(page: Int, at second: UInt32) -> Bool { earliest[page] <= second }

    mutating func set(_ second: UInt32, page: Int) { earliest[page] = second }
}
