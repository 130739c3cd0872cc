// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

/// A family on a protobuf page, parsed or expected.
struct ShownFamily: Equatable {
    struct Series: Equatable {
        var labels: [[String]]
        /// The description of a number, so that NaN equals itself.
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

    /// The populated buckets that spans and deltas encode.
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

/// A message in protobuf's text form, as protoc prints it: one field a line.
struct ProtobufNode {
    private enum Value {
        case message(ProtobufNode)
        case scalar(String)
    }

    private var fields: [(name: String, value: Value)] = []

    static func parse(_ text: String) throws -> ProtobufNode {
        var open: [(name: String, node: ProtobufNode)] = [("", ProtobufNode())]
        for line in text.split(separator: "\n") {
            let line = line.drop { $0 == " " }
            if line.hasSuffix(" {") {
                open.append((String(line.dropLast(2)), ProtobufNode()))
            } else if line == "}" {
                let closed = open.removeLast()
                open[open.count - 1].node.fields.append((closed.name, .message(closed.node)))
            } else {
                let colon = try #require(line.firstIndex(of: ":"))
                let value = String(line[colon...].dropFirst(2))
                open[open.count - 1].node.fields.append((String(line[..<colon]), .scalar(value)))
            }
        }
        try #require(open.count == 1)
        return open[0].node
    }

    /// The names of all fields, unknown ones as their numbers.
    var names: Set<String> { Set(fields.map(\.name)) }

    func messages(_ name: String) -> [ProtobufNode] {
        fields.compactMap { field in
            if field.name == name, case .message(let node) = field.value { node } else { nil }
        }
    }

    func message(_ name: String) -> ProtobufNode? { messages(name).first }

    func scalars(_ name: String) -> [String] {
        fields.compactMap { field in
            if field.name == name, case .scalar(let text) = field.value { text } else { nil }
        }
    }

    func integers<Integer: FixedWidthInteger>(_ name: String, as type: Integer.Type) -> [Integer] {
        scalars(name).compactMap { Integer($0) }
    }

    func double(_ name: String) -> Double? {
        scalars(name).first.flatMap { Double($0) }
    }

    /// A string without its quotes and C escapes (bytes in octal).
    func text(_ name: String) -> String? {
        guard let quoted = scalars(name).first?.utf8.dropFirst().dropLast() else { return nil }
        var bytes: [UInt8] = []
        var rest = quoted[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                let digits = [escape] + rest.prefix(2)
                rest = rest.dropFirst(2)
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1) - 48 }))
            default: bytes.append(escape)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
