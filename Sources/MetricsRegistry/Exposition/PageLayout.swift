// SPDX-License-Identifier: Apache-2.0

/// Everything of a family's part of a page that doesn't change from scrape to scrape, in one format.
protocol PageLayout: AnyObject, Sendable {
    /// The number of series that the layout knows, in the order of their creation.
    var seriesCount: Int { get }
    /// Whether the names of the family and of its series' labels look the same in every escaping.
    var hasClassicNames: Bool { get }

    /// Writes the family with the values that a scrape copied, which are those of exactly these series.
    ///
    /// `words` and `exemplars` are all of the scrape; `capture` tells which are the family's.
    func render(
        _ capture: FamilyCapture,
        _ words: Span<UInt64>,
        _ exemplars: borrowing ScrapedExemplars,
        to page: inout PageWriter
    )
}
