// SPDX-License-Identifier: Apache-2.0

/// The families that a scrape asks for by `name[]=`, each with or without its `_total`.
enum ScrapedNames {
    /// How many may be asked for.
    static let most = 1_000

    /// Reads the query of a request; nil when it names no families, and so asks for all.
    static func of(query: String?) throws(Problem) -> Set<String>? {
        guard let query else { return nil }
        var names: Set<String> = []
        var count = 0
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, decoded(key) == "name[]" else { continue }
            count += 1
            guard count <= most else { throw .tooManyNames }
            let name = parts.count > 1 ? decoded(parts[1]) : ""
            names.insert(name)
            names.insert(name + "_total")
        }
        return count == 0 ? nil : names
    }

    /// Undoes the coding of a form (`+`, `%5B`); what is no code stays as it is.
    private static func decoded(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
                if digits.count == 2 {
                    bytes.append(UInt8(digits[0] << 4 | digits[1]))
                    rest.removeFirst(2)
                } else {
                    bytes.append(byte)
                }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
