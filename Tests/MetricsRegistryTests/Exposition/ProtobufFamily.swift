// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry

/// What a protobuf page shows of a family, whether read from the page or expected of it.
struct ShownFamily: Equatable {
    struct Series: Equatable {
        var labels: [[String]]
        /// A number as Swift writes it, so that one that is not a number equals itself.
        var value: String?
        var exemplar: ShownExemplar?
        var created: Int64?
        var histogram: ShownHistogram?
    }

    var name: String
    var help: String
    var type: String
    var unit: String?
    var series: [Series]
}

struct ShownExemplar: Hashable {
    var labels: [[String]]
    var value: Double
    var timestamp: Int64

    init(_ exemplar: Exemplar) {
        labels = exemplar.labels.map { [$0.name, $0.value] }
        value = exemplar.value
        timestamp = exemplar.timestamp
    }

    init?(_ node: ProtobufNode?) {
        guard let node, let value = node.double("value"), let timestamp = node.message("timestamp") else { return nil }
        labels = node.labels
        self.value = value
        self.timestamp = timestamp.microseconds
    }
}

struct ShownHistogram: Equatable {
    struct Bucket: Equatable {
        var bound: Double
        var count: UInt64
        var exemplar: ShownExemplar?
    }

    var count: UInt64
    var sum: String
    var buckets: [Bucket]
    var native: NativeCounts?
    var exemplars: Set<ShownExemplar> = []
}

extension ShownFamily {
    init?(_ node: ProtobufNode) {
        guard let name = node.text("name"), let type = node.scalars("type").first else { return nil }
        self.name = name
        self.type = type
        help = node.text("help") ?? ""
        unit = node.text("unit")
        series = node.messages("metric").map { metric in
            let value = metric.message("counter") ?? metric.message("gauge")
            let histogram = metric.message("histogram")
            return Series(
                labels: metric.labels,
                value: value?.double("value")?.description,
                exemplar: ShownExemplar(value?.message("exemplar")),
                created: (value ?? histogram)?.message("created_timestamp")?.microseconds,
                histogram: histogram.map(ShownHistogram.init)
            )
        }
    }
}

extension ShownHistogram {
    init(_ node: ProtobufNode) {
        count = node.integers("sample_count", as: UInt64.self).first ?? 0
        sum = node.double("sample_sum")?.description ?? ""
        buckets = node.messages("bucket").map { bucket in
            Bucket(
                bound: bucket.double("upper_bound") ?? .nan,
                count: bucket.integers("cumulative_count", as: UInt64.self).first ?? 0,
                exemplar: ShownExemplar(bucket.message("exemplar"))
            )
        }
        exemplars = Set(node.messages("exemplars").compactMap { ShownExemplar($0) })
        guard let schema = node.integers("schema", as: Int.self).first else { return }
        native = NativeCounts(
            schema: schema,
            zeroThreshold: node.double("zero_threshold") ?? .nan,
            zeroCount: node.integers("zero_count", as: UInt64.self).first ?? 0,
            negative: node.sparseBuckets("negative"),
            positive: node.sparseBuckets("positive")
        )
    }
}

extension ProtobufNode {
    var labels: [[String]] {
        messages("label").map { [$0.text("name") ?? "", $0.text("value") ?? ""] }
    }

    var microseconds: Int64 {
        let seconds = integers("seconds", as: Int64.self).first ?? 0
        return seconds * 1_000_000 + (integers("nanos", as: Int64.self).first ?? 0) / 1_000
    }

    /// The populated buckets that spans and deltas tell of.
    func sparseBuckets(_ side: String) -> [NativeCounts.Bucket] {
        var buckets: [NativeCounts.Bucket] = []
        var deltas = integers("\(side)_delta", as: Int64.self)[...]
        var (index, count) = (0, Int64(0))
        for span in messages("\(side)_span") {
            index += span.integers("offset", as: Int.self).first ?? 0
            for _ in 0..<(span.integers("length", as: Int.self).first ?? 0) {
                count += deltas.popFirst() ?? 0
                if count != 0 { buckets.append(.init(index: index, count: UInt64(bitPattern: count))) }
                index += 1
            }
        }
        return deltas.isEmpty ? buckets : []
    }
}
