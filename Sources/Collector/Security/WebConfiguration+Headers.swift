// SPDX-License-Identifier: Apache-2.0

extension WebConfiguration {
    /// The headers that can be set, with their values where only some are allowed: the toolkit's five.
    private static let allowed: [String: [String]] = [
        "Content-Security-Policy": [],
        "Strict-Transport-Security": [],
        "X-Content-Type-Options": ["nosniff"],
        "X-Frame-Options": ["deny", "sameorigin"],
        "X-XSS-Protection": [],
    ]

    /// The longest value of a header in bytes.
    private static let maximumValue = 8_192

    static func headers(_ section: WebSection) throws(ConfigurationProblem) -> [Header] {
        guard let headers = try section.section("headers", keys: allowed.keys.sorted()) else { return [] }
        var found: [Header] = []
        for (name, values) in allowed.sorted(by: { $0.key < $1.key }) {
            guard let value = try headers.text(name) else { continue }
            guard values.isEmpty || values.contains(value) else {
                let expected = values.joined(separator: " or ")
                throw headers.problem(name, "expected \(expected), found \"\(value.prefix(80))\"")
            }
            guard value.utf8.count <= maximumValue, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw headers.problem(
                    name,
                    "expected at most \(maximumValue) ASCII characters in one line, found others"
                )
            }
            found.append(Header(name: name, value: value))
        }
        return found
    }
}
