// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// The instruments of one group of the fold's totals, or of several together, with what they show.
///
/// What a group has counted comes as words: one for each counter, then for each histogram one for each bucket and one for
/// the sum in microseconds.
struct LifecycleSeries: Sendable {
    /// One of the instruments.
    enum Place: Sendable {
        case counter(Int)
        case histogram(Int)
    }

    private let counters: [Counter]
    private let histograms: [(histogram: Histogram, words: Range<Int>)]
    private let created: Int64
    private var sums: [UInt64]

    /// - Parameter created: when counting began, in microseconds since 1970.
    init(counters: [Counter], histograms: [Histogram], created: Int64) {
        self.counters = counters
        self.created = created
        var end = counters.count
        self.histograms = histograms.map { histogram in
            let start = end
            end += histogram.bounds.count + 2
            return (histogram, start..<end)
        }
        sums = [UInt64](repeating: 0, count: end)
        for counter in counters { counter.restore(to: 0, created: created) }
        let nothing = [UInt64](repeating: 0, count: end)
        for (histogram, range) in self.histograms {
            try? histogram.restore(counts: Array(nothing[range.dropLast()]), sum: 0, created: created)
        }
    }

    /// Adds what a group has counted since it was read before.
    mutating func add(_ words: [UInt64], since earlier: [UInt64], in update: inout MetricsUpdate) {
        for place in counters.indices where words[place] != earlier[place] {
            sums[place] += words[place] - earlier[place]
            update.raise(counters[place], to: sums[place], created: created)
        }
        for (histogram, range) in histograms where words[range] != earlier[range] {
            for place in range { sums[place] &+= words[place] &- earlier[place] }
            let seconds = Double(sums[range.upperBound - 1]) / 1e6
            try? update.restore(histogram, counts: Array(sums[range.dropLast()]), sum: seconds, created: created)
        }
    }

    /// Shows the last thing that was counted at a place.
    func attach(_ exemplar: Exemplar, at place: Place) {
        switch place {
        case .counter(let place): counters[place].attach(exemplar)
        case .histogram(let place): histograms[place].histogram.attach(exemplar)
        }
    }

    /// As many zeros as there are words.
    var nothing: [UInt64] { [UInt64](repeating: 0, count: sums.count) }
}
