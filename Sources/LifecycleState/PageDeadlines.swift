// SPDX-License-Identifier: Apache-2.0

/// A lower bound of the closing times in each page of a table, so that a search skips pages in which nothing is due.
///
/// A bound is exact after a search and may become too early, never too late; it never affects what is found.
public struct PageDeadlines: Sendable {
    @usableFromInline var earliest: [UInt32] = []

    /// No page.
    public init() {}

    /// Adds a page.
    public mutating func appendPage() { earliest.append(.max) }

    /// Removes the last page.
    public mutating func removeLastPage() { earliest.removeLast() }

    /// Lowers the bound to a closing time; 0 is that of a place without events yet, which cannot be due.
    @inlinable
    public mutating func lower(to second: UInt32, page: Int) {
        if second < earliest[page], second != 0 { earliest[page] = second }
    }

    /// Whether something in a page may be due.
    @inlinable
    public func mayBeDue(page: Int, at second: UInt32) -> Bool { earliest[page] <= second }

    /// Sets the bound after a search.
    public mutating func set(_ second: UInt32, page: Int) { earliest[page] = second }
}
