// SPDX-License-Identifier: Apache-2.0

/// What has changed since the last checkpoint: names to delete, then pages to write, as of one moment.
///
/// Pages are encoded when they are taken, so that a large delta can be written in parts. Until then they share their
/// memory with the fold.
public struct StateDelta: Sendable {
    /// A page in the form in which the fold holds it.
    enum Page: Sendable {
        case encoded(StatePage)
        case cycles([Cycle], long: [Int: LongCycle], number: UInt32)
        case installations([Installation], number: UInt32)
        case identities(IdentityPage)

        var encoded: StatePage {
            switch self {
            case .encoded(let page): page
            case .cycles(let cycles, let long, let number): CyclePage.encode(cycles, long: long, number: number)
            case .installations(let installations, let number):
                InstallationTable.encode(installations, number: number)
            case .identities(let page): page.encoded
            }
        }
    }

    private var prefixes: [String] = []
    private var pages: [Page?] = []
    private var deleted = 0
    private var taken = 0

    /// No change.
    public init() {}

    /// How many names and pages have not been taken.
    public var count: Int { prefixes.count - deleted + pages.count - taken }

    mutating func delete(prefix: String) { prefixes.append(prefix) }

    mutating func append(_ page: Page) { pages.append(page) }

    /// Takes the next names whose pages are deleted; they precede all pages.
    public mutating func takeDeletedPrefixes(_ limit: Int) -> [String] {
        let end = deleted + min(max(0, limit), prefixes.count - deleted)
        defer { deleted = end }
        return Array(prefixes[deleted..<end])
    }

    /// Takes the next page and encodes it; nil when there is none.
    public mutating func takePage() -> StatePage? {
        guard taken < pages.count, let page = pages[taken] else { return nil }
        pages[taken] = nil
        taken += 1
        return page.encoded
    }
}
