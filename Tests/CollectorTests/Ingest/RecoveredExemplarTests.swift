// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import MetricsRegistry
import TestSupport
import Testing

@testable import LedgerState

@Suite("The exemplars after a restart")
struct RecoveredExemplarTests {
    @Test("are those of what was committed since the last checkpoint, as they were; none after a clean stop")
    func sinceTheCheckpoint() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let pipeline = try Pipeline(in: directory, clock: clock)
        _ = try await pipeline.submit([
            EventText.event("prefetch_failure", id: "saved", #""reason":"AUTH""#),
            EventText.event("prefetch_success", id: "saved-too", #""duration_ms":90000"#),
        ])
        await waitUntil("a checkpoint is saved") {
            ((try? pipeline.ledger.reader.loadState(LedgerProjection.name) { _, _ in }) ?? nil) != nil
        }
        let saved = exemplars(on: pipeline)
        #expect(saved.count == 2)

        clock.advance(seconds: 5)
        _ = try await pipeline.submit([
            EventText.event("prefetch_failure", id: "late", #""reason":"NETWORK""#),
            EventText.event("prefetch_success", id: "late-too", #""duration_ms":700"#),
        ])
        let late = exemplars(on: pipeline).filter { !saved.contains($0) }
        #expect(late.count == 2)
        let image = try directory.crashImage()
        try await pipeline.close()

        let recovered = try Pipeline(in: image, clock: clock)
        #expect(exemplars(on: recovered) == late)
        try await recovered.close()
        let again = try Pipeline(in: directory, clock: clock)
        #expect(exemplars(on: again) == [])
        try await again.close()
    }

    /// The samples of the page that have an exemplar, each with it and without its own value.
    private func exemplars(on pipeline: Pipeline) -> [String] {
        let page = String(decoding: pipeline.registry.exposition(.openMetrics), as: UTF8.self)
        return page.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 2 && words[2] == "#" ? "\(words[0]) \(words[3...].joined(separator: " "))" : nil
        }
    }
}
