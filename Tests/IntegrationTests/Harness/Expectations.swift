// SPDX-License-Identifier: Apache-2.0

import Testing

/// Waits until the service has nothing left to write or to confirm.
func waitUntilJournaled(
    _ service: Service,
    within limit: Duration = .seconds(60),
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let client = await service.client
    var last = ""
    do {
        try await eventually(
            "all accepted events are confirmed in the journal",
            within: limit,
            every: .milliseconds(50)
        ) {
            let page = try await client.metrics()
            last = page.text.split(separator: "\n").filter { $0.hasPrefix("dnp_telemetry_journal_") }
                .joined(separator: "\n")
            return page.isJournalComplete
        }
    } catch let error as DeadlineExceeded {
        Issue.record("\(error)\n\(last)", sourceLocation: sourceLocation)
        throw error
    }
}

/// Every one of these events stands in the journal exactly once, and nothing else does.
func expectExactlyOnce(
    _ expected: [EventIdentity],
    in journal: Journal,
    optional: [EventIdentity] = [],
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let entries = try await journal.entries(fields: ["DNP_EVENT", "DNP_SCHEDULE_ID", "DNP_SEQ", "DNP_LEDGER"])
    var counts: [EventIdentity: Int] = [:]
    for entry in entries { counts[entry.identity, default: 0] += 1 }
    let missing = expected.filter { counts[$0] == nil }
    let repeated = counts.filter { $0.value > 1 }
    let foreign = Set(counts.keys).subtracting(expected).subtracting(optional)
    #expect(
        missing.count == 0,
        "\(missing.count) of \(expected.count) events are missing, first \(missing.prefix(3))",
        sourceLocation: sourceLocation
    )
    #expect(
        repeated.count == 0,
        "\(repeated.count) of \(expected.count) events stand more than once, as \(repeated.prefix(3))",
        sourceLocation: sourceLocation
    )
    #expect(foreign.count == 0, "never sent: \(foreign.prefix(3))", sourceLocation: sourceLocation)
    #expect(Set(entries.map { $0["DNP_SEQ"] }).count == counts.count, sourceLocation: sourceLocation)
    #expect(Set(entries.map { $0["DNP_LEDGER"] }).count <= 1, sourceLocation: sourceLocation)
}
