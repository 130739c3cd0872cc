// SPDX-License-Identifier: Apache-2.0

/// What a registry needs from a counter, gauge or histogram: to create it and to copy its state.
protocol Instrument: AnyObject, Sendable {
    /// The kind in the TYPE line.
    static var kind: MetricKind { get }

    init(_ seed: InstrumentSeed)

    /// One value for each label name of the family, in their order.
    var labelValues: [String] { get }
    /// When the series began at zero, in microseconds since 1970.
    var created: Int64 { get }

    /// Writes the state of each of `members` to `words` from `start` on, laid out as the family's `SampleShape` says.
    ///
    /// It takes all series at once so that the loop is specialised for one kind.
    static func copy(_ members: Span<Self>, into words: inout MutableSpan<UInt64>, from start: Int)

    /// Writes the creation time of each of `members`, in microseconds since 1970, to `words` from `start` on.
    static func copyCreated(_ members: Span<Self>, into words: inout MutableSpan<UInt64>, from start: Int)

    /// Appends the exemplars of all `members`, sorted by series and place.
    static func copyExemplars(_ members: Span<Self>, into exemplars: inout ScrapedExemplars)

    /// Appends the sparse buckets of all `members` after an index, as `FamilyCapture.sparse` says. Called after
    /// `copy`.
    static func copySparseBuckets(_ members: Span<Self>, into words: inout ScrapedWords)
}

extension Instrument {
    static func copyCreated(_ members: Span<Self>, into words: inout MutableSpan<UInt64>, from start: Int) {
        for index in members.indices { words[start + index] = UInt64(bitPattern: members[index].created) }
    }

    /// None: gauges have no exemplars.
    static func copyExemplars(_ members: Span<Self>, into exemplars: inout ScrapedExemplars) {}

    /// None: only native histograms have sparse buckets.
    static func copySparseBuckets(_ members: Span<Self>, into words: inout ScrapedWords) {}
}

/// What a new series is created from.
struct InstrumentSeed {
    var labelValues: [String] = []
    var created: Int64
    var shape: SampleShape
    /// Counts ignored values; nil for the registry's own counters.
    var ignoredValues: Counter?
}

/// The layout of one series in the words of a scrape.
enum SampleShape: Sendable {
    /// One word: an unsigned whole number.
    case wholeNumber
    /// One word: the bits of a double.
    case floatingPoint
    /// One word per bucket (not cumulative, +Inf last), then the bits of the sum.
    case histogram(HistogramBounds)

    var wordsPerSeries: Int {
        switch self {
        case .wholeNumber, .floatingPoint: 1
        case .histogram(let bounds): bounds.count + 2
        }
    }
}
