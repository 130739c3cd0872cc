// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import TestSupport
import Testing

@testable import Export

@Suite("the page that is pushed")
struct MetricsPageTests {
    @Test("the page is read with every family, label, value, creation time, exemplar and bucket")
    func pagesAreReadWhole() throws {
        let page = try SamplePage().page()
        let failures = try #require(page.families.first { $0.name == "failures_total" })
        #expect(failures.kind == .counter && failures.help == "Failures by reason.")
        #expect(failures.series.map(\.value) == [1, 3])
        #expect(
            failures.series.map(\.labels) == [
                [MetricsPage.Label("reason", "AUTH")], [MetricsPage.Label("reason", "NETWORK")],
            ]
        )
        #expect(failures.series.allSatisfy { $0.created == UInt64(SamplePage.created) * 1_000 })
        #expect(failures.series[0].exemplars.map(\.time) == [UInt64(SamplePage.created + 1_000_000) * 1_000])
        let delay = try #require(page.families.first { $0.name == "delay_seconds" }?.series.first?.histogram)
        #expect(delay.buckets.map(\.cumulativeCount) == [1, 3, 3, 4])
        #expect(delay.buckets.map(\.upperBound) == [0.5, 60, 900, .infinity])
        #expect(delay.count == 4 && delay.native == nil)
        let drift = try #require(page.families.first { $0.name == "drift_seconds" }?.series.first?.histogram)
        #expect(drift.native?.positive.buckets.map(\.index) == [0, 1, 2, 10])
        #expect(drift.native?.positive.buckets.map(\.count) == [1, 0, 2, 1])
    }

    @Test("a page that is cut or damaged anywhere is read or refused, and never traps")
    func damagedPages() throws {
        let bytes = try SamplePage().registry.exposition(.protobuf)
        var random = SplitMix64(seed: 9)
        var refused = 0
        for _ in 0..<3_000 {
            var damaged = bytes
            if Bool.random(using: &random) { damaged.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(ProtobufReader.Failure) {
                let page = try MetricsPage(damaged, time: 1)
                _ = page.remoteWriteSeries(of: SamplePage.resource)
            } catch {
                refused += 1
            }
        }
        #expect(refused > 1_000)
    }
}
