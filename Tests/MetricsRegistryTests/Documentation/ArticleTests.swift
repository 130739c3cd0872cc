// SPDX-License-Identifier: Apache-2.0

import Foundation
import MetricsRegistry
import Testing

@Suite("DocC articles of MetricsRegistry")
struct ArticleTests {
    @Test(
        "every code block of the DocC articles is in the compiled snippets",
        arguments: ["MetricsRegistry", "ChoosingAnInstrument", "LabelsAndLimits", "Formats", "Consistency"]
    )
    func sameCode(article: String) throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Sources/MetricsRegistry/MetricsRegistry.docc/\(article).md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let source = try String(contentsOf: here.appendingPathComponent("ArticleSnippets.swift"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let code = block.components(separatedBy: "```")[0]
            #expect(trimmed(source).contains(trimmed(code)), "\(article): \(code)")
        }
    }

    @Test("the code of the DocC articles does what they say")
    func articleRun() throws {
        #expect(text(ArticleSnippets.overview(acceptHeader: nil)).contains("\njobs_total{queue=\"mail\"} 1\n"))
        let openMetrics = ArticleSnippets.overview(acceptHeader: "application/openmetrics-text; version=1.0.0")
        #expect(text(openMetrics).hasSuffix("# EOF\n"))
        let registry = MetricsRegistry()
        ArticleSnippets.histogram(registry)
        ArticleSnippets.labels(registry)
        ArticleSnippets.formats(registry, acceptHeader: nil)
        let totals = (
            registry.counter("received_total", help: "R."), registry.counter("accepted_total", help: "A."),
            registry.counter("refused_total", help: "F.")
        )
        ArticleSnippets.update(registry, totals, (5, 3, 2))
        let samples = RegistryFixture.samples(registry.exposition())
        #expect(samples[#"answer_seconds_bucket{le="0.05"}"#] == "1")
        #expect(samples[#"requests_total{route="/events",status="200"}"#] == "1")
        #expect(samples["received_total"] == "5" && samples["accepted_total"] == "3" && samples["refused_total"] == "2")
    }

    @Test("a series of a default registry is created at the system time")
    func articleTime() {
        let before = Int64(Date().timeIntervalSince1970 * 1e6)
        let created = MetricsRegistry().counter("a_total", help: "A.").created
        #expect(abs(created - before) < 60_000_000)
    }

    private func trimmed(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
