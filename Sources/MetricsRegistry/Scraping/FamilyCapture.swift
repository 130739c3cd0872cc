// SPDX-License-Identifier: Apache-2.0

/// One family as a scrape copied it.
struct FamilyCapture: Sendable {
    /// Where what doesn't change comes from: an earlier scrape, or the series as they were at the time of copying.
    enum Layout: Sendable {
        case kept(any PageLayout)
        case missing(@Sendable () -> any PageLayout)
    }

    let family: any ExposedFamily
    var layout: Layout
    /// How often series had been removed at the time of copying.
    let generation: Int
    /// The words of the values.
    let values: Range<Int>
    /// The words of the times at which the series began; empty where the format doesn't tell.
    let created: Range<Int>
    /// The exemplars; none where the format has none.
    let exemplars: Range<Int>
    /// The words of native histograms: for each series the place of its `SparseRecord` within them, then the records;
    /// empty where the format or the family has none.
    let sparse: Range<Int>
    let seriesCount: Int
}
