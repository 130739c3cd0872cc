// SPDX-License-Identifier: Apache-2.0

/// Reads `name{label="value",...} number` from one line.
struct SampleScanner {
    private var rest: Substring

    init(_ line: Substring) { rest = line }

    mutating func scan() -> (MetricsPage.Series, Double)? {
        let name = take { $0 != "{" && $0 != " " }
        var labels: [String: String] = [:]
        if skip("{") {
            while !skip("}") {
                let label = take { $0 != "=" && $0 != "}" }
                guard skip("="), skip("\""), let value = quotedText() else { return nil }
                labels[String(label)] = value
                _ = skip(",")
            }
        }
        guard let number = rest.split(separator: " ").first else { return nil }
        let value = number == "+Inf" ? Double.infinity : Double(number)
        guard let value, !name.isEmpty else { return nil }
        return (MetricsPage.Series(name: String(name), labels: labels), value)
    }

    private mutating func take(while condition: (Character) -> Bool) -> Substring {
        let taken = rest.prefix(while: condition)
        rest = rest.dropFirst(taken.count)
        return taken
    }

    private mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    /// The text up to the closing quote, with its escapes undone.
    private mutating func quotedText() -> String? {
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped == "n" ? "\n" : escaped)
            default: text.append(character)
            }
        }
        return nil
    }
}
