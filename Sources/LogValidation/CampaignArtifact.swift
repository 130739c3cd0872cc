// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TelemetryEvents

/// One test run of a campaign, read from its artifact: ours, or one that the plugin's test app wrote.
struct CampaignRun: Sendable {
    /// The file, and where it holds several runs the number of this one.
    var name: String
    /// The day of the run, as in "2025-11-15"; nil where none is told.
    var day: String?
    var scheduledAt: Timestamp?
    var executedAt: Timestamp?
    var firedAt: Timestamp?
    var isContentUsed = false
    /// The outcome's name, where the artifact tells it.
    var outcome: String?
    /// The causes of failures, in upper case: NETWORK, AUTH, SYSTEM, PERMISSIONS.
    var failures: Set<String> = []
    var leadSeconds: Int64?
    var scenarios: [String] = []
    /// Whether the log tells that the time zone changed.
    var isZoneChanged = false
    var conditions = RunConditions()
    /// Whether it is of the background refresh, for which the checklist does not ask.
    var isOfRefresh = false
    var counters: [String: Int64] = [:]

    var isSimulator: Bool { conditions.simulator ?? false }
    /// Whether the prefetch ran before the notification; nil where a time is missing and nothing tells that it never ran.
    var ranBefore: Bool? {
        if let executedAt, let firedAt { return executedAt < firedAt }
        if executedAt != nil { return nil }
        return firedAt != nil ? false : nil
    }
    /// Scheduled, executed, delivered, and the prefetched content used.
    var isHappy: Bool { scheduledAt != nil && executedAt != nil && firedAt != nil && isContentUsed }
    /// Whether a failure did not cost the notification, or a denied permission scheduled nothing.
    var isHandled: Bool {
        firedAt != nil || outcome == "fallback" || (failures.contains("PERMISSIONS") && scheduledAt == nil)
    }
}

/// Reads the artifacts of a campaign.
enum CampaignArtifact {
    /// Larger files are no artifacts.
    private static let largest = 16 << 20

    /// The runs of a file.
    static func runs(of path: String) throws(CampaignProblem) -> [CampaignRun] {
        guard let handle = FileManager.default.contents(atPath: path) else {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw CampaignProblem(file: path, problem: isThere ? "it cannot be read" : "there is no such file")
        }
        guard handle.count <= largest else {
            throw CampaignProblem(file: path, problem: "it is larger than \(largest >> 20) MiB, which no artifact is")
        }
        if handle.isEmpty { throw CampaignProblem(file: path, problem: "it is empty") }
        guard let value = try? JSONSerialization.jsonObject(with: handle) else {
            throw CampaignProblem(file: path, problem: "it is no JSON, or cut short")
        }
        guard let object = value as? [String: Any] else {
            throw CampaignProblem(file: path, problem: #"expected an object {"testRun":{...}}"#)
        }
        if let run = object["testRun"] as? [String: Any] { return [try self.run(run, path)] }
        if let runs = object["testRuns"] as? [[String: Any]] {
            var read: [CampaignRun] = []
            for (index, run) in runs.enumerated() { read.append(try self.run(run, "\(path)#\(index + 1)")) }
            return read
        }
        throw CampaignProblem(file: path, problem: #"it has no "testRun" object"#)
    }

    private static func run(_ object: [String: Any], _ name: String) throws(CampaignProblem) -> CampaignRun {
        guard let outcome = object["outcome"] as? [String: Any] else {
            throw CampaignProblem(file: name, problem: #"its "testRun" has no "outcome""#)
        }
        var run = CampaignRun(name: name)
        run.isOfRefresh = object["app"] as? String == "\(App.aiq.name)"
        run.scheduledAt = try time(outcome, "prefetchScheduledAt", name)
        run.executedAt = try time(outcome, "bgTaskExecutedAt", name)
        run.firedAt = try time(outcome, "notificationFiredAt", name)
        run.isContentUsed = outcome["cachedContentUsed"] as? Bool ?? false
        run.outcome = outcome["outcome"] as? String
        let date = try time(object, "date", name) ?? run.scheduledAt ?? run.firedAt
        run.day = date.map { String("\($0)".prefix(10)) }
        run.leadSeconds = (object["leadTime"] as? NSNumber)?.int64Value
        run.scenarios = (object["scenarios"] as? [Any])?.compactMap { $0 as? String } ?? []
        run.isZoneChanged = object["timezoneChanged"] as? Bool ?? false
        for (name, count) in object["telemetry"] as? [String: Any] ?? [:] {
            run.counters[name] = (count as? NSNumber)?.int64Value
        }
        var words = outcome["errors"] as? [String] ?? []
        for failure in object["failures"] as? [[String: Any]] ?? [] {
            words += ["reason", "event", "error"].compactMap { failure[$0] as? String }
        }
        run.failures = Set(words.flatMap(causes))
        run.conditions = conditions(object)
        return run
    }

    private static func time(_ object: [String: Any], _ key: String, _ file: String) throws(CampaignProblem)
        -> Timestamp?
    {
        guard let value = object[key], !(value is NSNull) else { return nil }
        guard let text = value as? String else {
            throw CampaignProblem(file: file, problem: "expected \(key) as a time such as 2025-11-15T05:48:00Z")
        }
        if text.isEmpty { return nil }
        let bytes = Array(text.utf8)
        guard let time = Timestamp(rfc3339: bytes.span, 0..<bytes.count) else {
            throw CampaignProblem(
                file: file,
                problem: "expected \(key) as a time such as 2025-11-15T05:48:00Z, found \"\(text.prefix(40))\""
            )
        }
        return time
    }

    private static func causes(_ words: String) -> [String] {
        let text = words.lowercased()
        var causes: [String] = []
        if text.contains("network") { causes.append("NETWORK") }
        if text.contains("permission") || text.contains("denied") { causes.append("PERMISSIONS") }
        if text.contains("auth") || text.contains("jwt") || text.contains("401") { causes.append("AUTH") }
        if text.contains("system") || text.contains("expired") { causes.append("SYSTEM") }
        return causes
    }

    /// The conditions as data where the artifact has them, else out of its sentence and the device's name.
    private static func conditions(_ object: [String: Any]) -> RunConditions {
        var conditions = RunConditions()
        if let facts = object["runConditions"] as? [String: Any] {
            conditions.lowPowerMode = facts["lowPowerMode"] as? Bool
            conditions.pluggedIn = facts["pluggedIn"] as? Bool
            conditions.backgroundRefresh = facts["backgroundRefresh"] as? Bool
            conditions.simulator = facts["simulator"] as? Bool
            conditions.network = (facts["network"] as? String).flatMap(RunConditions.Network.init(rawValue:))
        }
        if let sentence = object["conditions"] as? String {
            conditions = conditions.completed(by: RunConditions(sentence: sentence))
        }
        if conditions.simulator == nil, let device = object["device"] as? String, device != TestSetting.unknown {
            conditions.simulator = device.lowercased().contains("simulator")
        }
        return conditions
    }
}

/// An artifact that cannot be read.
package struct CampaignProblem: Error, Hashable, Sendable {
    package let file: String
    package let problem: String
}
