// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("privacy")
    struct Privacy {
        private static let event = #"""
            {"event":"prefetch_failure","scheduleId":"private-1","timestamp":"2025-11-15T05:48:32Z","reason":"AUTH",
            "error":"AuthError for jane.doe@example.org, Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl",
            "deviceModel":"call +1 555 010 7788","osVersion":"jane.doe@example.org",
            "appVersion":"did:ethr:0x71c7656ec7ab88b098defb751b7401b5f6d8976f",
            "title":"Your morning summary","body":"Jane owes 12 dollars","token":"tok-4f1c9a7be2d84410",
            "telemetry":{"dnp_prefetch_failure_total":1},
            "installationId":"4E7D1F0A-installation-of-jane","platform":"ios"}
            """#.replacingOccurrences(of: "\n", with: "")

        /// Ids that clients have made of what they should not.
        private static let careless = #"""
            {"event":"prefetch_executed","scheduleId":"jane.doe@example.org","timestamp":"2025-11-15T05:48:33Z",
            "eventId":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl"}
            """#.replacingOccurrences(of: "\n", with: "")

        private static let secrets = [
            "jane.doe@example.org", "eyJhbGciOiJIUzI1NiJ9", "c2lnbmF0dXJl", "555 010 7788", "5550107788",
            "71c7656ec7ab88b098defb751b7401b5f6d8976f", "morning summary", "owes 12 dollars", "tok-4f1c9a7be2d84410",
            "4E7D1F0A-installation-of-jane",
        ]

        @Test("nothing personal reaches the journal, the ledger, the page or the log")
        func nothingPersonal() async throws {
            try await Journal.with { journal in
                try await withService(
                    journal: .journald,
                    options: ["--log-level", "trace"],
                    in: journal.namespace
                ) { service in
                    let client = await service.client
                    #expect(try await client.post(Array(Self.event.utf8)).receipt().accepted == 1)
                    #expect(try await client.post(Array(Self.careless.utf8)).receipt().accepted == 1)
                    let wrong = try await client.post(Array(Self.event.replacing("\"AUTH\"", with: "7").utf8))
                    expectClean(wrong.body, in: "the answer to a broken event")
                    try await waitUntilJournaled(service)
                    expectClean(Array(try await client.metrics().text.utf8), in: "the page")
                    let entries = try await journal.namespace.run(
                        ["/usr/bin/journalctl", "--quiet", "--all", "--output=export", "--no-pager"]
                    )
                    #expect(entries.text.contains("private-1"))
                    expectClean(Array(entries.output), in: "the journal")
                    await expectClean(Array(service.wholeLog.utf8), in: "the log")
                    let state = await service.settings.stateDirectory
                    await service.kill()
                    for name in try FileManager.default.contentsOfDirectory(atPath: state) {
                        expectClean(Array(contents(of: "\(state)/\(name)")), in: name)
                    }
                }
            }
        }

        private func expectClean(_ bytes: [UInt8], in place: String) {
            let text = String(decoding: bytes, as: UTF8.self)
            let found = Self.secrets.filter { text.contains($0) }
            #expect(found == [], "this stands in \(place)")
        }
    }
}
