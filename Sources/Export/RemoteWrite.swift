// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Encodes series as a request of Prometheus remote write, 1.0 (`prometheus.WriteRequest`) or 2.0
/// (`io.prometheus.write.v2.Request`, at the fields of rc.4), before compression.
package enum RemoteWrite {
    /// The version of the protocol.
    package enum Version: String, Sendable, Hashable, CaseIterable {
        case v1 = "1"
        case v2 = "2"

        /// The headers that a request must have, without those of its transport.
        package var headers: [(name: String, value: String)] {
            switch self {
            case .v1:
                [
                    ("Content-Type", "application/x-protobuf"), ("Content-Encoding", "snappy"),
                    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
                ]
            case .v2:
                [
                    ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
                    ("Content-Encoding", "snappy"), ("X-Prometheus-Remote-Write-Version", "2.0.0"),
                ]
            }
        }
    }

    /// A request.
    ///
    /// - Parameters:
    ///   - series: those that the version knows; others are left out.
    ///   - families: those that the series belong to, for their help, unit and type.
    ///   - time: of all samples, in milliseconds since 1970.
    package static func request(
        _ version: Version,
        _ series: some Collection<RemoteWriteSeries>,
        _ families: [MetricsPage.Family],
        time: Int64
    ) -> [UInt8] {
        switch version {
        case .v1: version1(series, families, time)
        case .v2: version2(series, families, time)
        }
    }

    // MARK: 1.0

    private static func version1(
        _ all: some Collection<RemoteWriteSeries>,
        _ families: [MetricsPage.Family],
        _ time: Int64
    ) -> [UInt8] {
        var writer = ProtobufWriter()
        for series in all {
            guard case .number(let value) = series.value else { continue }
            writer.message(1, expecting: 128) { message in
                for label in series.labels { message.label(1, label) }
                message.sample(2, value, time)
                for exemplar in series.exemplars {
                    message.message(3) { message in
                        for label in exemplar.labels { message.label(1, label) }
                        message.double(2, exemplar.value)
                        message.integer(3, exemplar.time / 1_000_000)
                    }
                }
            }
        }
        for index in Set(all.map(\.family)).sorted() where families.indices.contains(index) {
            let family = families[index]
            writer.message(3) { metadata in
                metadata.integer(1, type(of: family.kind))
                metadata.text(2, family.name)
                metadata.text(4, family.help)
                metadata.text(5, family.unit)
            }
        }
        return writer.take()
    }

    // MARK: 2.0

    private static func version2(
        _ all: some Collection<RemoteWriteSeries>,
        _ families: [MetricsPage.Family],
        _ time: Int64
    ) -> [UInt8] {
        var symbols = Symbols()
        var body = ProtobufWriter()
        for series in all {
            let labels = series.labels.flatMap { [symbols.index(of: $0.name), symbols.index(of: $0.value)] }
            body.message(5, expecting: 128) { message in
                message.packed(1, labels)
                switch series.value {
                case .number(let value): message.sample(2, value, time, start: series.start)
                case .native(let histogram): message.native(3, histogram, time, start: series.start)
                }
                for exemplar in series.exemplars {
                    let labels = exemplar.labels.flatMap { [symbols.index(of: $0.name), symbols.index(of: $0.value)] }
                    message.message(4) { message in
                        message.packed(1, labels)
                        message.double(2, exemplar.value)
                        message.integer(3, exemplar.time / 1_000_000)
                    }
                }
                guard families.indices.contains(series.family) else { return }
                let family = families[series.family]
                let (help, unit) = (symbols.index(of: family.help), symbols.index(of: family.unit))
                message.message(5) { metadata in
                    metadata.integer(1, type(of: family.kind))
                    metadata.integer(3, help)
                    metadata.integer(4, unit)
                }
            }
        }
        var writer = ProtobufWriter()
        for symbol in symbols.all { writer.presentText(4, symbol) }
        writer.append(body.take())
        return writer.take()
    }

    private static func type(of kind: MetricKind) -> Int {
        switch kind {
        case .counter: 1
        case .gauge: 2
        case .histogram: 3
        }
    }
}

/// The texts of a request of 2.0, each once; the first one is empty.
private struct Symbols {
    private(set) var all = [""]
    private var places = ["": UInt64(0)]

    mutating func index(of text: String) -> UInt64 {
        if let place = places[text] { return place }
        let place = UInt64(all.count)
        places[text] = place
        all.append(text)
        return place
    }
}

extension ProtobufWriter {
    fileprivate mutating func label(_ field: Int, _ label: MetricsPage.Label) {
        message(field) { pair in
            pair.text(1, label.name)
            pair.text(2, label.value)
        }
    }

    /// A `Sample`; `start` is a field of 2.0 only.
    fileprivate mutating func sample(_ field: Int, _ value: Double, _ time: Int64, start: Int64 = 0) {
        message(field) { sample in
            sample.double(1, value)
            sample.integer(2, time)
            sample.integer(3, start)
        }
    }

    /// A `Histogram`.
    fileprivate mutating func native(
        _ field: Int,
        _ histogram: MetricsPage.Histogram,
        _ time: Int64,
        start: Int64
    ) {
        let native = histogram.native ?? MetricsPage.Native()
        message(field, expecting: 256) { message in
            message.presentInteger(1, histogram.count)
            message.double(3, histogram.sum)
            message.signed(4, Int64(native.schema))
            message.double(5, native.zeroThreshold)
            message.presentInteger(6, native.zeroCount)
            message.side(native.negative, spans: 8, deltas: 9)
            message.side(native.positive, spans: 11, deltas: 12)
            message.integer(15, time)
            message.integer(17, start)
        }
    }

    private mutating func side(_ side: MetricsPage.Side, spans: Int, deltas: Int) {
        for span in side.spans where span.length > 0 {
            message(spans) { message in
                message.signed(1, Int64(span.offset))
                message.integer(2, span.length)
            }
        }
        packed(deltas, side.deltas.map(Self.zigzag))
    }
}
