// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import LogInput
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents

@testable import LogValidation

/// What devices tell, and what the product's own decoder and fold make of it.
struct JudgedFleet {
    var bytes: [UInt8] = []
    var truth = FleetTruth()

    init(_ plan: FleetPlan, devices: Range<Int>? = nil) {
        var buffer = OutputBuffer()
        for number in devices ?? 0..<plan.devices {
            var device = SimulatedDevice(plan, number: number)
            while device.tellDay(to: &buffer) {}
            truth += device.truth
        }
        bytes = buffer.bytes
    }

    func judgement(_ wrapper: LogWrapper? = nil) throws -> Judgement {
        var options = JudgementOptions(try LineFormat(named: wrapper?.rawValue, timezone: "UTC"))
        options.explains = true
        return try JudgementRun(options).judge(
            bytes,
            InputLimits(maximumBytes: 1 << 30, maximumRatio: 1_000, deadline: .now + .seconds(600))
        )
    }

    /// Each series that the judgement and the truth do not agree on, in words.
    func differences(_ judgement: Judgement) -> [String] {
        let judged = Self.series(of: judgement)
        var words: [String] = []
        var expected = Dictionary(uniqueKeysWithValues: truth.series.map { ($0.name, $0.value) })
        for (name, value) in judged.sorted(by: { $0.key < $1.key }) {
            let wanted = expected.removeValue(forKey: name) ?? 0
            if value != wanted { words.append("\(name): expected \(wanted), found \(value)") }
        }
        for (name, wanted) in expected.sorted(by: { $0.key < $1.key }) where wanted != 0 {
            words.append("\(name): expected \(wanted), found nothing")
        }
        return words
    }

    private static func series(of judgement: Judgement) -> [String: Int64] {
        var series = Self.series(of: judgement.totals)
        // What only a comparison with the plugin's own schedule shows.
        for (kind, change) in judgement.violationChanges {
            series["dnp_prefetch_sequence_violations_total{violation=\"\(kind.name)\"}", default: 0] += change
        }
        series.merge(Self.series(of: judgement.refresh.totals)) { $1 }
        return series
    }

    /// What the fold of the plugin's events counts, by the series of the page.
    static func series(of totals: LifecycleTotals) -> [String: Int64] {
        var series: [String: Int64] = [
            "dnp_prefetch_scheduled_total": Int64(totals.scheduled),
            "dnp_prefetch_executed_total": Int64(totals.executed),
            "dnp_prefetch_success_total": Int64(totals.success),
            "dnp_prefetch_used_for_notification_total": Int64(totals.used),
        ]
        for reason in FailureReason.allCases {
            series["dnp_prefetch_failure_total{reason=\"\(reason.name)\"}"] = Int64(totals.failure(reason))
        }
        for outcome in CycleOutcome.allCases {
            series["dnp_prefetch_cycles_total{outcome=\"\(outcome.name)\"}"] = Int64(totals.cycles(outcome))
        }
        for kind in ViolationKind.allCases {
            let name = "dnp_prefetch_sequence_violations_total{violation=\"\(kind.name)\"}"
            series[name] = Int64(totals.violations(kind))
        }
        for check in IntegrityCheck.allCases {
            for result in IntegrityResult.allCases {
                series["dnp_integrity_checks_total{check=\"\(check.name)\",result=\"\(result.name)\"}"] =
                    Int64(totals.checks(check, result))
            }
        }
        return series
    }

    private static func series(of runs: RefreshTotals) -> [String: Int64] {
        var series: [String: Int64] = [:]
        for outcome in RunOutcome.allCases {
            series["aiq_background_refresh_runs_total{outcome=\"\(outcome.name)\"}"] = Int64(runs.runs(outcome))
        }
        for kind in RefreshViolationKind.allCases {
            let name = "aiq_background_refresh_violations_total{violation=\"\(kind.name)\"}"
            series[name] = Int64(runs.violations(kind))
        }
        return series
    }
}
