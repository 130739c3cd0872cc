// SPDX-License-Identifier: Apache-2.0

/// What a scrape needs of a family, whatever its instruments.
protocol ExposedFamily: AnyObject, Sendable {
    var descriptor: MetricDescriptor { get }

    /// Appends the state of all series, in the order of their creation.
    func capture(_ format: ExpositionFormat, into scraped: inout ScrapedState) -> FamilyCapture
    /// Keeps a layout for later scrapes.
    func keep(_ layout: any PageLayout, for format: ExpositionFormat, generation: Int)
}
