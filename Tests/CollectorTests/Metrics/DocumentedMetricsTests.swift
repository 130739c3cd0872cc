// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import CoreMetrics
import EventLedger
import Export
import Foundation
import HummingbirdCore
import MetricsRegistry
import PrefetchLifecycle
import RuntimeMetrics
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The table of metrics in docs/metrics.md")
struct DocumentedMetricsTests {
    /// A row of the table, or a family of the registry in the same form.
    struct Row: Hashable {
        let name: String
        let kind: String
        let labels: Set<String>
        let meaning: String
    }

    /// The rows of the table under the heading "All metrics".
    static func documented() throws -> [Row] {
        let root = URL.repository
        let text = try String(contentsOf: root.appendingPathComponent("docs/metrics.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let heading = try #require(lines.firstIndex(of: "## All metrics"), "docs/metrics.md has no such heading")
        let section = lines[lines.index(after: heading)...].prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("| `") }.map { row(String($0)) }
    }

    private static func row(_ line: String) -> Row {
        let escaped = line.replacingOccurrences(of: "\\|", with: "\u{0}")
        let cells = escaped.split(separator: "|", omittingEmptySubsequences: false).map {
            $0.replacingOccurrences(of: "\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
        }
        let cell = { (index: Int) in index < cells.count ? cells[index] : "" }
        let labels = cell(3).split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "` ")) }
        return Row(
            name: cell(1).trimmingCharacters(in: CharacterSet(charactersIn: "`")),
            kind: cell(2),
            labels: Set(labels.filter { !$0.isEmpty }),
            meaning: cell(4)
        )
    }

    /// Every family that the service registers, on a fresh registry.
    static func registered() throws -> [Row] {
        let registry = MetricsRegistry(now: { startOfTest }) { Issue.record("\($0)") }
        let progress = DeliveryProgress(.init(position: .start, cursor: nil, skipped: 0), end: .start, oldest: nil)
        _ = ProjectionMetrics(registry, created: startOfTest, journal: progress)
        _ = LedgerMetrics(registry, wasSetAside: false)
        _ = LedgerLifeMetrics(registry)
        _ = JournalMetrics(registry)
        _ = ExportLagMetrics(registry)
        let endpoint = try #require(ExportEndpoint("http://127.0.0.1:4318"))
        _ = ExportMetrics(registry, ExportDestination("otlp", .logs, endpoint))
        _ = FollowMetrics(registry)
        _ = JournalSourceMetrics(registry)
        _ = LinesMetrics(registry)
        _ = HTTPMetrics(registry, routes: [])
        _ = SecurityMetrics(registry)
        _ = ConsoleMetrics(registry) { 0 }
        _ = ScrapeMetrics(registry)
        _ = ReloadMetrics(registry)
        registry.collector("ledger") {}
        _ = ConnectionMetrics(registry)
        ProcessCollector.add(to: registry)
        SwiftRuntimeCollector.add(to: registry)
        let own = registry.descriptors.map {
            Row(name: $0.name, kind: $0.kind.rawValue, labels: Set($0.labelNames), meaning: $0.help)
        }
        return own + reportedByHummingbird()
    }

    /// The families of what Hummingbird's middleware reports. The test of the tutorial sees that it reports just that.
    private static func reportedByHummingbird() -> [Row] {
        let registry = MetricsRegistry(now: { startOfTest }) { Issue.record("\($0)") }
        let before = Set(registry.descriptors.map(\.name))
        let factory = RegistryMetricsFactory(registry, options: LibraryMetrics.options)
        let method = [("http.request.method", "GET")]
        let route = method + [("http.route", "/")]
        let answer = route + [("http.response.status_code", "200")]
        factory.makeMeter(label: "http.server.active_requests", dimensions: method).increment(by: 1)
        factory.makeCounter(label: "hb.requests", dimensions: answer).increment(by: 1)
        factory.makeCounter(label: "hb.request.errors", dimensions: route + [("error.type", "404")]).increment(by: 1)
        factory.makeTimer(label: "http.server.request.duration", dimensions: answer).recordNanoseconds(1)
        let page = RegistryPage(registry)
        return registry.descriptors.filter { !before.contains($0.name) }.map {
            Row(name: $0.name, kind: $0.kind.rawValue, labels: page.labels(of: $0.name), meaning: $0.help)
        }
    }

    /// What the service registers where it starts.
    static let ofTheService: Set<String> = ["dnp_telemetry_build_info"]

    @Test(
        "the documented table of metrics has each metric of the page once, with its type, labels and meaning, and no other"
    )
    func sameFamilies() throws {
        let documented = try Self.documented()
        let registered = try Self.registered()
        #expect(documented.count == Set(documented.map(\.name)).count)
        let rows = Set(documented.filter { !Self.ofTheService.contains($0.name) })
        #expect(rows.subtracting(registered).sorted { $0.name < $1.name } == [], "documented and not so")
        #expect(Set(registered).subtracting(rows).sorted { $0.name < $1.name } == [], "not documented so")
        #expect(Set(documented.map(\.name)).isSuperset(of: Self.ofTheService))
    }

    @Test("the documented table of recorded series has each one that the rules record, and no other")
    func recordedSeries() throws {
        let page = text(of: URL.repository.appendingPathComponent("docs/metrics.md").path)
        let section = try #require(page.components(separatedBy: "\n## Recorded series\n").last)
        let table = section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }
        var documented: Set<String> = []
        for row in table {
            let texts = row.split(separator: "|")[0].split(separator: "`")
            var latest = ""
            for name in texts where name.contains(":") || name.hasPrefix("...") {
                // `...1d` stands for the name before it with another window.
                if !name.hasPrefix("...") { latest = String(name) }
                let base = latest.replacing(/[0-9]+[hd]$/, with: "")
                documented.insert(name.hasPrefix("...") ? base + name.dropFirst(3) : String(name))
            }
        }
        let rules = text(of: URL.repository.appendingPathComponent("deploy/prometheus/rules/recording.yml").path)
        let recorded = Set(rules.matches(of: /record: (\S+)/).map { String($0.1) })
        #expect(recorded.count > 30)
        #expect(documented.subtracting(recorded).sorted() == [], "documented and not recorded")
        #expect(recorded.subtracting(documented).sorted() == [], "not documented")
    }

    @Test("the documented table of metrics begins with what exists at 0 from the first scrape on")
    func documentedMetricsFromTheStart() throws {
        let registry = MetricsRegistry(now: { startOfTest })
        var metrics = ProjectionMetrics(registry, created: startOfTest, journal: nil)
        metrics.publish(LedgerProjection(identityKey: EventText.identityKey, limits: .init()))
        let page = RegistryPage(registry)
        for sample in [
            "dnp_prefetch_scheduled_total", "dnp_prefetch_executed_total", "dnp_prefetch_success_total",
            #"dnp_prefetch_failure_total{reason="NETWORK"}"#, #"dnp_prefetch_failure_total{reason="AUTH"}"#,
            #"dnp_prefetch_failure_total{reason="SYSTEM"}"#, "dnp_prefetch_used_for_notification_total",
        ] {
            #expect(page[sample] == 0, "\(sample)")
        }
        #expect(page[#"dnp_prefetch_failure_total{reason="OTHER"}"#] == nil)
    }
}
