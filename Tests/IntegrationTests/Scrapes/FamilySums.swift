// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The sums over all series of the counters and gauges on a page, by the names that the text formats give their samples;
/// of histograms those of the counts and of the buckets without a bound.
struct FamilySums: Sendable {
    private static let unbounded = "_bucket{le=\"+Inf\"}"

    private(set) var sums: [String: Double] = [:]

    subscript(name: String) -> Double { sums[name] ?? .nan }

    /// Reads a page by its Content-Type.
    init(_ answer: Answer) {
        if answer.headers["content-type"]?.hasPrefix("application/vnd.google.protobuf") == true {
            readMessages(answer.body)
        } else {
            readLines(answer.body)
        }
    }

    /// The histograms on the page, each with what it counted and what its bucket without a bound has.
    var histograms: [(name: String, count: Double, unbounded: Double)] {
        sums.compactMap { key, value in
            guard key.hasSuffix(Self.unbounded) else { return nil }
            let name = String(key.dropLast(Self.unbounded.count))
            return (name, self["\(name)_count"], value)
        }
    }

    private mutating func readLines(_ page: [UInt8]) {
        for line in page.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            let name = line.prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: " ") }
            // Labels of these families hold no spaces, and samples no timestamps; an exemplar stands behind a `#`.
            let sample = line.split(separator: UInt8(ascii: "#"), maxSplits: 1).first ?? line
            guard let number = sample.split(separator: UInt8(ascii: " ")).last else { continue }
            var key = String(decoding: name, as: UTF8.self)
            if key.hasSuffix("_bucket") {
                guard String(decoding: sample, as: UTF8.self).contains("le=\"+Inf\"") else { continue }
                key = key.dropLast("_bucket".count) + Self.unbounded
            }
            sums[key, default: 0] += Double(String(decoding: number, as: UTF8.self)) ?? .nan
        }
    }

    /// Delimited `io.prometheus.client.MetricFamily` messages.
    private mutating func readMessages(_ page: [UInt8]) {
        var page = ProtobufFields(page[...], delimited: true)
        while case .some((_, .bytes(let family))) = page.next() {
            var name = ""
            var fields = ProtobufFields(family)
            while let (field, value) = fields.next() {
                guard case .bytes(let bytes) = value else { continue }
                switch field {
                case 1: name = String(decoding: bytes, as: UTF8.self)
                case 4: add(metric: bytes, of: name)
                default: break
                }
            }
        }
    }

    /// A Metric message with its gauge (2), counter (3) or histogram (7).
    private mutating func add(metric: ArraySlice<UInt8>, of name: String) {
        var fields = ProtobufFields(metric)
        while let (field, value) = fields.next() {
            guard case .bytes(let bytes) = value else { continue }
            switch field {
            case 2, 3: sums[name, default: 0] += ProtobufFields.number(1, in: bytes)
            case 7: add(histogram: bytes, of: name)
            default: break
            }
        }
    }

    /// A Histogram message: its count (1), and of its buckets (3), each with count (1) and bound (2), the last.
    private mutating func add(histogram: ArraySlice<UInt8>, of name: String) {
        sums["\(name)_count", default: 0] += ProtobufFields.number(1, in: histogram)
        var fields = ProtobufFields(histogram)
        while let (field, value) = fields.next() {
            guard field == 3, case .bytes(let bucket) = value else { continue }
            guard ProtobufFields.number(2, in: bucket) == .infinity else { continue }
            sums["\(name)\(Self.unbounded)", default: 0] += ProtobufFields.number(1, in: bucket)
        }
    }
}

/// The fields of a message as they come; fixed 32-bit fields, which no metric has, end it.
struct ProtobufFields {
    enum Value {
        case varint(UInt64)
        case double(Double)
        case bytes(ArraySlice<UInt8>)
    }

    private var rest: ArraySlice<UInt8>
    private let isDelimited: Bool

    /// - Parameter delimited: whether these are messages without tags, each after its length.
    init(_ bytes: ArraySlice<UInt8>, delimited: Bool = false) {
        rest = bytes
        isDelimited = delimited
    }

    mutating func next() -> (field: Int, value: Value)? {
        guard let key = isDelimited ? 2 : varint(), let value = value(ofType: key & 7) else { return nil }
        return (Int(key >> 3), value)
    }

    /// The number in a field of a message; 0 if the field is missing.
    static func number(_ wanted: Int, in message: ArraySlice<UInt8>) -> Double {
        var fields = ProtobufFields(message)
        while let (field, value) = fields.next() {
            guard field == wanted else { continue }
            switch value {
            case .varint(let number): return Double(number)
            case .double(let number): return number
            case .bytes: return .nan
            }
        }
        return 0
    }

    private mutating func value(ofType type: UInt64) -> Value? {
        switch type {
        case 0: varint().map { .varint($0) }
        case 1:
            take(8).map { .double(Double(bitPattern: $0.reversed().reduce(0) { $0 << 8 | UInt64($1) })) }
        case 2: varint().flatMap { take(Int(clamping: $0)) }.map { .bytes($0) }
        default: nil
        }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
