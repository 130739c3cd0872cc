// SPDX-License-Identifier: Apache-2.0

/// What the service shows on standard error when it starts: a name and a value on each line.
struct StartScreen {
    private var values: [String: String] = [:]

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("  ") {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard words.count == 2, values[String(words[0])] == nil else { continue }
            values[String(words[0])] = String(words[1].drop { $0 == " " })
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The port in `post     http://127.0.0.1:PORT/v1/events`.
    var port: Int? {
        guard let address = values["post"], address.hasSuffix("/v1/events") else { return nil }
        return address.dropLast("/v1/events".count).split(separator: ":").last.flatMap { Int($0) }
    }
}
