// SPDX-License-Identifier: Apache-2.0

/// What a registry needs of a counter, gauge or histogram: to be born, and to be copied out in words.
protocol Instrument: AnyObject, Sendable {
    /// The kind that a page announces for it.
    static var kind: MetricKind { get }

    init(_ seed: InstrumentSeed)

    /// One value for each label name of the family, in their order.
    var labelValues: [String] { get }
    /// Microseconds since 1970 at which the series began at zero.
    var created: Int64 { get }

    /// Writes the state of each of `members` to `words` from `start` on, one after another as the family's `SampleShape` tells.
    ///
    /// It takes them all at once so that the loop over thousands of series is compiled for the one kind.
    static func copy(_ members: Span<Self>, into words: inout MutableSpan<UInt64>, from start: Int)

    /// Writes the time at which each of `members` began, in microseconds since 1970, to `words` from `start` on.
    static func copyCreated(_ members: Span<Self>, into words: inout MutableSpan<UInt64>, from start: Int)

    /// Appends the exemplars of all `members`, in the order of the series and of their places.
    static func copyExemplars(_ members: Span<Self>, into exemplars: inout ScrapedExemplars)

    /// Appends the sparse buckets of all `members`, after `copy` and behind an index, as `FamilyCapture.sparse` tells.
    static func copySparseBuckets(_ members: Span<Self>, into words: inout ScrapedWords)
}

extension Instrument {
    static func copyCreated(_ members: Span<Self>, into words: inout MutableSpan<UInt64>, from start: Int) {
        for index in members.indices { words[start + index] = UInt64(bitPattern: members[index].created) }
    }

    /// None, as gauges have none.
    static func copyExemplars(_ members: Span<Self>, into exemplars: inout ScrapedExemplars) {}

    /// None, as only native histograms have them.
    static func copySparseBuckets(_ members: Span<Self>, into words: inout ScrapedWords) {}
}

/// What a new series is made from.
struct InstrumentSeed {
    var labelValues: [String] = []
    var created: Int64
    var shape: SampleShape
    /// Counts the values that the instrument has to ignore; nil for the registry's own counters.
    var ignoredValues: Counter?
}

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
