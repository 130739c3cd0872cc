// SPDX-License-Identifier: Apache-2.0

/// The changes since the last checkpoint, as of one moment: key prefixes to delete, then pages to write.
///
/// Pages are encoded when they are taken, so that a large delta can be written in parts. Until then they share their
/// memory with the fold.
public struct StateDelta: Sendable {
    private enum Page: Sendable {
        case encoded(StatePage)
        case held(@Sendable () -> StatePage)
    }

    private var prefixes: [String] = []
    private var pages: [Page?] = []
    private var deleted = 0
    private var taken = 0

    /// No change.
    public init() {}

    /// The number of prefixes and pages not taken yet.
    public var count: Int { prefixes.count - deleted + pages.count - taken }

    /// Adds a key prefix to delete.
    public mutating func delete(prefix: String) { prefixes.append(prefix) }

    /// Adds a page that is encoded already.
    public mutating func append(_ page: StatePage) { pages.append(.encoded(page)) }

    /// Adds a page that is encoded when it is taken.
    ///
    /// - Parameter encode: encodes what it holds.
    public mutating func append(_ encode: @escaping @Sendable () -> StatePage) { pages.append(.held(encode)) }

    /// Takes the next key prefixes to delete; they precede all pages.
    public mutating func takeDeletedPrefixes(_ limit: Int) -> [String] {
        let end = deleted + min(max(0, limit), prefixes.count - deleted)
        defer { deleted = end }
        return Array(prefixes[deleted..<end])
    }

    /// Takes and encodes the next page; nil when none is left.
    public mutating func takePage() -> StatePage? {
        guard taken < pages.count, let page = pages[taken] else { return nil }
        pages[taken] = nil
        taken += 1
        switch page {
        case .encoded(let page): return page
        case .held(let encode): return encode()
        }
    }
}
