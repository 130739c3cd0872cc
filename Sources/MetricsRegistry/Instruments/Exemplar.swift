// SPDX-License-Identifier: Apache-2.0

/// One observation kept beside a total, with labels that lead to its trace (OpenMetrics 1.0, "Exemplars").
///
/// Its label values are on the page, readable by everyone who may scrape: no secret and nothing personal belongs in
/// them.
public struct Exemplar: Sendable, Hashable {
    /// A label of an exemplar.
    public struct Label: Sendable, Hashable {
        /// The name: `[a-zA-Z_][a-zA-Z0-9_]*`.
        public let name: String
        /// The value: any text.
        public let value: String
    }

    /// Code points that the names and values of all labels may have together (OpenMetrics 1.0, "Exemplars").
    public static var maximumCodePoints: Int { 128 }

    /// The labels, in the order given.
    public let labels: [Label]
    /// What was observed, in the unit of the metric; for a counter, what was added.
    public let value: Double
    /// When it was observed, in microseconds since 1970.
    public let timestamp: Int64

    /// Makes an exemplar that every format can show.
    ///
    /// - Parameters:
    ///   - labels: Names that are legal and differ, and any values; at most 128 Unicode code points in all.
    ///   - value: A finite number.
    ///   - timestamp: Microseconds since 1970, from 1970 to 9999.
    public init(
        labels: [(name: String, value: String)],
        value: Double,
        timestamp: Int64
    ) throws(ExemplarError) {
        var names: Set<String> = []
        var codePoints = 0
        for label in labels {
            guard Self.isLegal(label.name) else { throw .invalidLabelName }
            guard names.insert(label.name).inserted else { throw .repeatedLabelName }
            codePoints += label.name.unicodeScalars.count + label.value.unicodeScalars.count
            guard codePoints <= Self.maximumCodePoints else { throw .tooLong }
        }
        guard value.isFinite else { throw .valueIsNotFinite }
        guard 0..<Self.endOfTime ~= timestamp else { throw .timestampOutOfRange }
        self.labels = labels.map { Label(name: $0.name, value: $0.value) }
        self.value = value
        self.timestamp = timestamp
    }

    /// The start of the year 10,000, with which a protobuf timestamp is no longer legal.
    private static var endOfTime: Int64 { 253_402_300_800_000_000 }

    /// Names that need no escaping in any format.
    private static func isLegal(_ name: String) -> Bool {
        let letters = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: false
            }
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return letters && !name.utf8.starts(with: "__".utf8) && name.utf8.first.map { !digits.contains($0) } ?? false
    }
}
