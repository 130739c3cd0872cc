// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TelemetryEvents

/// The test runs of a campaign, held against the testing guide's sign-off checklist of Phase 1.
package struct TestCampaign: Sendable {
    /// A point of the checklist.
    package enum Point: String, CaseIterable, Sendable {
        case simulator, device, failure, time, telemetry, majority

        /// What it asks for.
        var title: String {
            switch self {
            case .simulator: "Simulator: one full happy-path cycle (schedule, task, fetch, delivery)"
            case .device:
                "Device: a best-case run (plugged in, Wi-Fi) that prefetched before the notification and used it"
            case .failure: "A failure path (NETWORK or PERMISSIONS) logged and handled"
            case .time: "Time and lead edge cases (too-small lead, time zone change) run or deferred"
            case .telemetry: "Telemetry counters wired and validated, or deferred"
            case .majority: "Device: the prefetch ran before the notification in the majority of runs"
            }
        }
    }

    /// Whether a point is met.
    enum Status: String, Sendable {
        case met, notMet = "not_met", deferred
    }

    /// A point with the run that shows it, or why none does.
    struct Finding: Sendable {
        let point: Point
        var status: Status
        var run: String?
        var why: String
    }

    /// One day of the campaign.
    struct Day: Sendable {
        let day: String
        var runs = 0
        var ranBefore = 0
        var used = 0
        var failed = 0
    }

    let runs: [CampaignRun]
    /// The number of records of the background refresh, for which the checklist does not ask.
    let refreshRuns: Int
    /// The artifacts that cannot be read, in their order.
    package let problems: [CampaignProblem]
    let findings: [Finding]
    let days: [Day]

    /// Whether every point is met or deferred.
    package var isSignedOff: Bool { findings.allSatisfy { $0.status != .notMet } }

    /// Reads the artifacts in files and, by their names, in directories and below.
    package init(_ paths: [String], deferred: Set<Point>) {
        var runs: [CampaignRun] = []
        var problems: [CampaignProblem] = []
        for path in paths {
            let files = Self.files(at: path)
            if files.isEmpty {
                problems.append(CampaignProblem(file: path, problem: "the directory has no file that ends in .json"))
            }
            for file in files {
                do throws(CampaignProblem) {
                    runs += try CampaignArtifact.runs(of: file)
                } catch {
                    problems.append(error)
                }
            }
        }
        self.init(runs, problems, deferred: deferred)
    }

    init(_ all: [CampaignRun], _ problems: [CampaignProblem] = [], deferred: Set<Point> = []) {
        let runs = all.filter { !$0.isOfRefresh }
        self.runs = runs
        refreshRuns = all.count - runs.count
        self.problems = problems
        findings = Point.allCases.map { point in
            let finding = Self.finding(point, runs)
            guard finding.status == .notMet, deferred.contains(point) else { return finding }
            return Finding(point: point, status: .deferred, why: "deferred by --defer; \(finding.why)")
        }
        var days: [String: Day] = [:]
        for run in runs {
            let name = run.day ?? "unknown day"
            var day = days[name] ?? Day(day: name)
            day.runs += 1
            if run.ranBefore == true { day.ranBefore += 1 }
            if run.isContentUsed { day.used += 1 }
            if !run.failures.isEmpty { day.failed += 1 }
            days[name] = day
        }
        self.days = days.values.sorted { $0.day < $1.day }
    }

    private static func files(at path: String) -> [String] {
        var isDirectory: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue
        else {
            return [path]
        }
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        let base = path.hasSuffix("/") ? path : path + "/"
        return names.filter { $0.hasSuffix(".json") }.sorted().map { base + $0 }
    }

    private static func finding(_ point: Point, _ runs: [CampaignRun]) -> Finding {
        switch point {
        case .simulator:
            one(point, runs.first { $0.isSimulator && $0.isHappy }, "no run on a simulator went from scheduling to use")
        case .device: device(runs)
        case .failure: failure(runs)
        case .time: time(runs)
        case .telemetry:
            one(point, runs.first(where: \.hasCoherentCounters), "no run counts scheduled, executed, success and used")
        case .majority: majority(runs)
        }
    }

    private static func one(_ point: Point, _ run: CampaignRun?, _ missing: String) -> Finding {
        run.map { Finding(point: point, status: .met, run: $0.name, why: $0.day ?? "") }
            ?? Finding(point: point, status: .notMet, why: missing)
    }

    private static func device(_ runs: [CampaignRun]) -> Finding {
        let good = runs.filter { !$0.isSimulator && $0.ranBefore == true && $0.isContentUsed }
        let best = good.first { $0.conditions.pluggedIn == true && $0.conditions.network == .wifi }
        let unsaid = good.first { $0.conditions.pluggedIn == nil || $0.conditions.network == nil }
        return one(
            .device,
            best,
            unsaid.map { "\($0.name) went well, but does not tell of power and network (report --power, --network)" }
                ?? "no run on a device used what it had prefetched, plugged in and on Wi-Fi"
        )
    }

    private static func failure(_ runs: [CampaignRun]) -> Finding {
        let failed = runs.filter { !$0.failures.isDisjoint(with: ["NETWORK", "PERMISSIONS"]) }
        return one(
            .failure,
            failed.first(where: \.isHandled),
            failed.first.map { "\($0.name) failed, and its notification was not shown" }
                ?? "no run tells of a failure with NETWORK or PERMISSIONS"
        )
    }

    private static func time(_ runs: [CampaignRun]) -> Finding {
        let lead = runs.first { $0.has("lead") || ($0.leadSeconds.map { $0 <= 60 } ?? false) }
        let zone = runs.first { run in
            run.isZoneChanged || ["timezone", "time-zone", "time zone"].contains(where: run.has)
        }
        switch (lead, zone) {
        case (let lead?, let zone?):
            return Finding(point: .time, status: .met, run: lead.name, why: "and \(zone.name)")
        case (nil, _?): return Finding(point: .time, status: .notMet, why: "no run has a too-small lead")
        case (_?, nil): return Finding(point: .time, status: .notMet, why: "no run has a change of the time zone")
        case (nil, nil): return Finding(point: .time, status: .notMet, why: "no run has either")
        }
    }

    private static func majority(_ runs: [CampaignRun]) -> Finding {
        let known = runs.filter { !$0.isSimulator }.compactMap(\.ranBefore)
        let before = known.count { $0 }
        let why = "\(before) of \(known.count) runs on a device whose times are known"
        return Finding(point: .majority, status: before * 2 > known.count ? .met : .notMet, why: why)
    }
}

extension CampaignRun {
    fileprivate func has(_ word: String) -> Bool { scenarios.contains { $0.lowercased().contains(word) } }

    /// Whether the counters rise in the order of the stages, down to the use.
    fileprivate var hasCoherentCounters: Bool {
        let counts = ["scheduled", "executed", "success", "used"].map { counters[$0] ?? 0 }
        return counts[3] > 0 && zip(counts, counts.dropFirst()).allSatisfy { $0 >= $1 }
    }
}
