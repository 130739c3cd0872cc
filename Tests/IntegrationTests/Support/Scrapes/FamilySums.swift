// SPDX-License-Identifier: Apache-2.0

/// The sums over all series of the counters and gauges on a page, by the names that the text formats give their samples.
struct FamilySums: Sendable {
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

    private mutating func readLines(_ page: [UInt8]) {
        for line in page.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            let name = line.prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: " ") }
            // Labels of these families hold no spaces, and samples no timestamps; an exemplar stands behind a `#`.
            let sample = line.split(separator: UInt8(ascii: "#"), maxSplits: 1).first ?? line
            guard let number = sample.split(separator: UInt8(ascii: " ")).last else { continue }
            let value = Double(String(decoding: number, as: UTF8.self)) ?? .nan
            sums[String(decoding: name, as: UTF8.self), default: 0] += value
        }
    }

    /// Delimited `io.prometheus.client.MetricFamily` messages.
    private mutating func readMessages(_ page: [UInt8]) {
        var page = ProtobufFields(page[...], delimited: true)
        while let (_, family) = page.next() {
            var name = ""
            var sum = 0.0
            var fields = ProtobufFields(family)
            while let (field, bytes) = fields.next() {
                switch field {
                case 1: name = String(decoding: bytes, as: UTF8.self)
                case 4: sum += ProtobufFields.valueOfMetric(bytes)
                default: break
                }
            }
            sums[name] = sum
        }
    }
}

/// The length-delimited fields of a message, with those of 64 bits as their bytes.
struct ProtobufFields {
    private var rest: ArraySlice<UInt8>
    private let isDelimited: Bool

    init(_ bytes: ArraySlice<UInt8>, delimited: Bool = false) {
        rest = bytes
        isDelimited = delimited
    }

    mutating func next() -> (field: Int, bytes: ArraySlice<UInt8>)? {
        while true {
            guard let key = isDelimited ? 2 : varint() else { return nil }
            switch key & 7 {
            case 0: guard varint() != nil else { return nil }
            case 1: return take(8).map { (Int(key >> 3), $0) }
            case 2: return varint().flatMap { take(Int(clamping: $0)) }.map { (Int(key >> 3), $0) }
            default: return nil
            }
        }
    }

    /// The value of a Metric's gauge (2) or counter (3), which is its first field.
    static func valueOfMetric(_ metric: ArraySlice<UInt8>) -> Double {
        var fields = ProtobufFields(metric)
        while let (field, bytes) = fields.next() {
            guard field == 2 || field == 3 else { continue }
            var members = ProtobufFields(bytes)
            while let (member, value) = members.next() {
                guard member == 1, value.count == 8 else { continue }
                return Double(bitPattern: value.reversed().reduce(0) { $0 << 8 | UInt64($1) })
            }
            return 0
        }
        return 0
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
