// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import TelemetryEvents

/// `?dry-run`: a post that is judged and not stored (docs/ingest-api.md).
enum DryRun {
    /// What its answers have in addition.
    static let mark = #","dryRun":true"#
    private static let name = "dry-run"
    /// How many members of a query are looked at.
    private static let maximumMembers = 16

    /// Whether a query asks for a dry run. One that is nearly spelt so is refused, since it would be stored.
    static func isAsked(by query: String?) throws(Problem) -> Bool {
        guard let query, !query.isEmpty else { return false }
        var isAsked = false
        for member in query.split(separator: "&").prefix(maximumMembers) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, NearestName.of(String(key), in: [name]) == name else { continue }
            switch (key == name, parts.count == 1 ? "true" : parts[1]) {
            case (true, "true"), (true, "1"), (true, ""): isAsked = true
            case (true, "false"), (true, "0"): break
            default: throw .unclearDryRun
            }
        }
        return isAsked
    }
}

extension Problem {
    fileprivate static let unclearDryRun = Problem(
        status: .badRequest,
        type: "dry-run",
        title: "Unclear whether to store",
        detail: "Expected ?dry-run, ?dry-run=true or ?dry-run=false, found something like it; nothing was stored."
    )
}
