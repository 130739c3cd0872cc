// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

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
