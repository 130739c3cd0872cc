// SPDX-License-Identifier: Apache-2.0

/// How one series lies in the words of a scrape.
enum SampleShape: Sendable {
    /// One word: an unsigned whole number.
    case wholeNumber
    /// One word: the bits of a double.
    case floatingPoint
    /// A word for the count of each bucket (not cumulative, the one for +Inf last), then the bits of the sum.
    case histogram(HistogramBounds)

    var wordsPerSeries: Int {
        switch self {
        case .wholeNumber, .floatingPoint: 1
        case .histogram(let bounds): bounds.count + 2
        }
    }
}
