// SPDX-License-Identifier: Apache-2.0

/// Suggests the intended name for an unknown one.
package enum NearestName {
    /// How many bytes of a given name are compared.
    package static let maximumLength = 80

    /// The name with the smallest edit distance, when that is small for its length; the first in order of equal ones.
    package static func of(_ given: String, in names: some Sequence<String>) -> String? {
        let bytes = Array(given.lowercased().utf8.prefix(maximumLength))
        guard bytes.count >= 2 else { return nil }
        let candidates = names.map { ($0, distance(bytes, Array($0.lowercased().utf8))) }
        guard let (nearest, distance) = candidates.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) else { return nil }
        return distance <= max(1, bytes.count / 3) ? nearest : nil
    }

    /// The Levenshtein distance in bytes.
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row.last ?? left.count
    }
}

/// A value that is not one of the accepted ones.
package struct UnknownChoice: Error, CustomStringConvertible {
    /// What was expected, what was found and what may have been meant.
    package let description: String

    /// Parses a word as one of `values`.
    package static func check<Value: RawRepresentable<String>>(
        _ text: String,
        _ values: [Value]
    ) throws(UnknownChoice) -> Value {
        if let value = values.first(where: { $0.rawValue == text }) { return value }
        let words = values.map(\.rawValue)
        let found = text.isEmpty ? "nothing" : "\"\(text.prefix(200))\""
        let suggestion = NearestName.of(text, in: words).map { "; did you mean \($0)?" } ?? ""
        throw UnknownChoice(
            description: "expected one of \(words.joined(separator: ", ")), found \(found)\(suggestion)"
        )
    }
}
