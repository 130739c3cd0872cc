// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry

/// All metrics at one moment, as the registry's own page in protobuf tells them.
///
/// What is pushed is read from that page, so that it cannot differ from what a scrape of the same moment gets: the same
/// families, labels, values, creation times and exemplars, all as of one position of the ledger.
package struct MetricsPage: Sendable, Equatable {
    /// The metrics of one name.
    package struct Family: Sendable, Equatable {
        package var name = ""
        package var help = ""
        package var unit = ""
        package var kind = MetricKind.gauge
        package var series: [Series] = []
    }

    /// One set of labels with its value.
    package struct Series: Sendable, Equatable {
        package var labels: [Label] = []
        /// Of a counter or a gauge.
        package var value = 0.0
        /// When counting began, in nanoseconds since 1970; 0 where the page does not tell it.
        package var created: UInt64 = 0
        package var exemplars: [Exemplar] = []
        package var histogram: Histogram?
    }

    package struct Label: Sendable, Hashable {
        package var name = ""
        package var value = ""

        package init(_ name: String = "", _ value: String = "") {
            self.name = name
            self.value = value
        }
    }

    package struct Exemplar: Sendable, Equatable {
        package var labels: [Label] = []
        package var value = 0.0
        /// In nanoseconds since 1970.
        package var time: UInt64 = 0
    }

    package struct Histogram: Sendable, Equatable {
        package var count: UInt64 = 0
        package var sum = 0.0
        /// The buckets of fixed bounds, the last one of +Inf; empty where there are only native ones.
        package var buckets: [Bucket] = []
        package var native: Native?
    }

    package struct Bucket: Sendable, Equatable {
        package var upperBound = Double.infinity
        /// The observations up to the bound.
        package var cumulativeCount: UInt64 = 0
        package var exemplar: Exemplar?
    }

    /// A Prometheus native histogram: populated buckets whose bounds grow by a constant factor.
    package struct Native: Sendable, Equatable {
        package var schema = 0
        package var zeroThreshold = 0.0
        package var zeroCount: UInt64 = 0
        package var negative = Side()
        package var positive = Side()
    }

    /// The populated buckets of one sign: spans of consecutive buckets, and of each bucket the difference of its count from
    /// the one before.
    package struct Side: Sendable, Equatable {
        package var spans: [Span] = []
        package var deltas: [Int64] = []

        package struct Span: Sendable, Equatable {
            /// The gap to the span before, of the first one its index.
            package var offset = 0
            package var length = 0
        }
    }

    /// The families, sorted by name, with their series sorted by labels.
    package var families: [Family] = []
    /// When the page was written, in nanoseconds since 1970.
    package var time: UInt64

    package init(families: [Family] = [], time: UInt64) {
        self.families = families
        self.time = time
    }

    /// The number of series of all families.
    package var seriesCount: Int { families.reduce(0) { $0 + $1.series.count } }
}

extension MetricsPage {
    /// Reads a page of delimited `io.prometheus.client.MetricFamily` messages.
    ///
    /// - Parameter time: when it was written, in nanoseconds since 1970.
    package init(_ page: [UInt8], time: UInt64) throws(ProtobufReader.Failure) {
        self.init(time: time)
        var reader = ProtobufReader(page[...])
        while !reader.isAtEnd { families.append(try Self.family(try reader.delimited())) }
    }

    private static func family(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> Family {
        var family = Family()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: family.name = try value.text()
            case 2: family.help = try value.text()
            case 3: family.kind = value.number == 0 ? .counter : value.number == 4 ? .histogram : .gauge
            case 4: family.series.append(try series(value.message))
            case 5: family.unit = try value.text()
            default: break
            }
        }
        return family
    }

    private static func series(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> Series {
        var series = Series()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: series.labels.append(try label(value.message))
            case 2, 3: try readNumber(value.message, into: &series)
            case 7: try readHistogram(value.message, into: &series)
            default: break
            }
        }
        return series
    }

    /// A `Gauge` or a `Counter`.
    private static func readNumber(
        _ bytes: ArraySlice<UInt8>,
        into series: inout Series
    ) throws(ProtobufReader.Failure) {
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: series.value = value.double
            case 2: series.exemplars.append(try exemplar(value.message))
            case 3: series.created = try time(value.message)
            default: break
            }
        }
    }

    private static func readHistogram(
        _ bytes: ArraySlice<UInt8>,
        into series: inout Series
    ) throws(ProtobufReader.Failure) {
        var histogram = Histogram()
        var native = Native()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: histogram.count = value.number
            case 2: histogram.sum = value.double
            case 3: histogram.buckets.append(try bucket(value.message))
            case 5:
                native.schema = Int(value.signed)
                histogram.native = native
            case 6: native.zeroThreshold = value.double
            case 7: native.zeroCount = value.number
            case 9: native.negative.spans.append(try span(value.message))
            case 10: native.negative.deltas.append(value.signed)
            case 12: native.positive.spans.append(try span(value.message))
            case 13: native.positive.deltas.append(value.signed)
            case 15: series.created = try time(value.message)
            case 16: series.exemplars.append(try exemplar(value.message))
            default: break
            }
        }
        if histogram.native != nil { histogram.native = native }
        series.histogram = histogram
    }

    private static func bucket(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> Bucket {
        var bucket = Bucket()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: bucket.cumulativeCount = value.number
            case 2: bucket.upperBound = value.double
            case 3: bucket.exemplar = try exemplar(value.message)
            default: break
            }
        }
        return bucket
    }

    private static func span(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> Side.Span {
        var span = Side.Span()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: span.offset = Int(value.signed)
            case 2: span.length = Int(truncatingIfNeeded: value.number)
            default: break
            }
        }
        return span
    }

    private static func exemplar(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> Exemplar {
        var exemplar = Exemplar()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: exemplar.labels.append(try label(value.message))
            case 2: exemplar.value = value.double
            case 3: exemplar.time = try time(value.message)
            default: break
            }
        }
        return exemplar
    }

    private static func label(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> Label {
        var label = Label()
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: label.name = try value.text()
            case 2: label.value = try value.text()
            default: break
            }
        }
        return label
    }

    /// A `google.protobuf.Timestamp` in nanoseconds.
    private static func time(_ bytes: ArraySlice<UInt8>) throws(ProtobufReader.Failure) -> UInt64 {
        var time: UInt64 = 0
        var reader = ProtobufReader(bytes)
        while let (number, value) = try reader.next() {
            switch number {
            case 1: time &+= value.number &* 1_000_000_000
            case 2: time &+= value.number
            default: break
            }
        }
        return time
    }
}

extension MetricsPage.Side {
    /// The index and count of each bucket, the empty ones that bridge small gaps included.
    var buckets: [(index: Int, count: UInt64)] {
        var buckets: [(Int, UInt64)] = []
        buckets.reserveCapacity(deltas.count)
        var (index, count, place) = (0, Int64(0), 0)
        for span in spans {
            index += span.offset
            for _ in 0..<span.length where place < deltas.count {
                count &+= deltas[place]
                buckets.append((index, UInt64(bitPattern: count)))
                (index, place) = (index + 1, place + 1)
            }
        }
        return buckets
    }
}
