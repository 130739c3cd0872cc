// SPDX-License-Identifier: Apache-2.0

/// What curl brought back.
package struct Curl {
    /// Nil where there was no answer.
    package let status: Int?
    /// By lower-case name.
    package let headers: [String: String]
    package let body: String
    /// curl's own words when it failed.
    package let error: String

    package static func get(_ url: String, _ options: String..., within limit: Int = 30) async throws -> Curl {
        try await get(url, options, within: limit)
    }

    package static func get(_ url: String, _ options: [String], within limit: Int = 30) async throws -> Curl {
        try MissingDependency.require(executable: "/usr/bin/curl", package: "curl")
        let command = try await Command.run(
            ["/usr/bin/curl", "-sS", "-i", "--http1.1", "--path-as-is", "--max-time", "\(limit)"] + options + [url]
        )
        let text = command.text.replacing("\r\n", with: "\n")
        let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\n")
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { headers[pair[0].lowercased()] = String(pair[1].drop { $0 == " " }) }
        }
        let body = parts.count == 2 ? String(parts[1]) : ""
        return Curl(status: status, headers: headers, body: body, error: command.error)
    }
}
