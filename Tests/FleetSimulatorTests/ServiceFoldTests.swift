// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("The service's fold counts a fleet as its truth says")
struct ServiceFoldTests {
    /// Decodes a day's lines as one request, drops what was accepted before, and folds the rest.
    private static func take(
        _ lines: [UInt8],
        _ fold: inout LifecycleFold,
        _ pseudonyms: EphemeralPseudonyms,
        receivedAt now: Timestamp
    ) throws {
        let key = pseudonyms.identityKey
        let decoded = JSONEventDecoder.decode(
            lines.span,
            framing: .lines,
            receivedAt: now,
            pseudonyms: pseudonyms,
            identityKey: key
        )
        #expect(decoded.rejected == 0)
        let bytes = decoded.events.bytes
        var accepted = EventBatch()
        var cursor = EventCursor()
        while let event = try cursor.next(in: bytes.span) {
            if fold.propose(key.identity(of: event, in: bytes.span)) { accepted.append(event, texts: bytes.span) }
        }
        try fold.apply(accepted.bytes.span, receivedAt: now)
        fold.clearProposals()
    }

    /// Folds what a device tells, each day's request twice, and compares once the clock has closed its cycles.
    private static func check(_ plan: FleetPlan) throws {
        let pseudonyms = EphemeralPseudonyms()
        var fold = LifecycleFold(key: pseudonyms.identityKey)
        var device = SimulatedDevice(plan, number: 0)
        var buffer = OutputBuffer()
        let now = Timestamp(seconds: plan.start.microseconds / 1_000_000 + 30 * 86_400)
        while device.tellDay(to: &buffer) {
            try take(buffer.bytes, &fold, pseudonyms, receivedAt: now)
            try take(buffer.bytes, &fold, pseudonyms, receivedAt: now)
            buffer.removeAll()
        }
        fold.tick(to: Timestamp(microseconds: now.microseconds + 5 * 86_400_000_000))
        let page = JudgedFleet.series(of: fold.totals).map { "\($0) \($1)" }.joined(separator: "\n")
        // The runs of the other app have a fold of their own.
        let series = device.truth.series.filter { $0.name.hasPrefix("dnp_") }.map { ($0.name, $0.value) }
        let comparison = PageComparison(page, Dictionary(uniqueKeysWithValues: series))
        #expect(comparison.difference == nil, "seed \(plan.seed), \(plan.scenarios.map(\.name))")
    }

    @Test("devices with all faults, whose requests come twice, once the clock has closed their cycles")
    func devicesWithFaults() throws {
        for seed in 0..<400 as Range<UInt64> {
            var plan = FleetPlan(seed: seed)
            plan.days = Int(seed % 9) + 2
            plan.faults = .random(seed: seed)
            try Self.check(plan)
        }
    }

    @Test("every scenario of the plugin, once the clock has closed its cycles", arguments: FleetTruthTests.ofPrefetch)
    func everyScenario(scenario: FleetScenario) throws {
        for seed in 0..<60 as Range<UInt64> { try Self.check(FleetTruthTests.plan(seed, [scenario])) }
    }

    @Test("a page names the first series that differs, and is judged once nothing is open")
    func comparisons() {
        let page = """
            # TYPE dnp_prefetch_scheduled_total counter
            dnp_prefetch_scheduled_total 3
            dnp_prefetch_cycles_total{outcome="used"} 2
            """
        let expected = ["dnp_prefetch_scheduled_total": Int64(3)]
        #expect(
            PageComparison(page, expected).difference
                == "dnp_prefetch_cycles_total{outcome=\"used\"}: expected 0, found 2"
        )
        let open = PageComparison(page + "\ndnp_prefetch_open_cycles 4\n", expected)
        #expect(open.difference == nil)
        #expect(open.verdict == .open(4))
        #expect(
            PageComparison(page, ["dnp_prefetch_scheduled_total": 4]).verdict
                == .behind("dnp_prefetch_scheduled_total: expected 4, found 3")
        )
    }

    @Test("a page that counts more than it must is different at once, whatever else is still on its way")
    func moreThanThereMustBe() {
        let page = """
            dnp_prefetch_scheduled_total 3
            dnp_prefetch_executed_total 2
            dnp_prefetch_open_cycles 1
            """
        let expected = ["dnp_prefetch_scheduled_total": Int64(4), "dnp_prefetch_executed_total": 1]
        #expect(
            PageComparison(page, expected).verdict == .different("dnp_prefetch_executed_total: expected 1, found 2")
        )
        let equal = ["dnp_prefetch_scheduled_total": Int64(3), "dnp_prefetch_executed_total": 2]
        #expect(PageComparison(page, equal).verdict == .open(1))
        #expect(PageComparison(page.replacing("open_cycles 1", with: "open_cycles 0"), equal).verdict == .equal)
    }
}
