// SPDX-License-Identifier: Apache-2.0

/// What a scrape needs of a family, whatever its instruments.
protocol ExposedFamily: AnyObject, Sendable {
    var descriptor: MetricDescriptor { get }
    /// Whether a function computes the value, so that no one may write to it.
    var isComputed: Bool { get }

    /// Appends the state of all series, in the order of their creation, and returns how many there are.
    func copy(into words: inout ScrapedWords) -> Int
    /// A layout of Prometheus text that knows at least the first `seriesCount` series.
    func textLayout(covering seriesCount: Int) -> TextLayout
}
