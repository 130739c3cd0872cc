// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("report")
struct ReportTests {
    private static let happy = Sample.path("logs/happy-stamped.log")

    private func artifact(_ data: Data) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return try #require(object?["testRun"] as? [String: Any])
    }

    @Test("report writes the artifact and the filled-in template of a successful log")
    func reportWritesFiles() async throws {
        try await withTemporaryDirectory { directory in
            let run = "\(directory)/run"
            let command = try await Command.telemetry(
                "report",
                Self.happy,
                "--out",
                run,
                "--device",
                "iPhone 15 Pro",
                "--ios-version",
                "17.1",
                "--scenario",
                "SIM-1",
                "--scenario",
                "SIM-2"
            )
            #expect(command.status == .code(0))
            #expect(command.text == "")
            let artifact = try artifact(contents(of: "\(run).json"))
            #expect(artifact["device"] as? String == "iPhone 15 Pro")
            #expect(artifact["iosVersion"] as? String == "17.1")
            #expect(artifact["leadTime"] as? Int == 300)
            #expect(artifact["scenarios"] as? [String] == ["SIM-1", "SIM-2"])
            let outcome = try #require(artifact["outcome"] as? [String: Any])
            #expect(outcome["prefetchScheduledAt"] as? String == "2025-11-15T05:41:00Z")
            #expect(outcome["bgTaskExecutedAt"] as? String == "2025-11-15T05:50:00Z")
            #expect(outcome["notificationFiredAt"] as? String == "2025-11-15T05:53:02Z")
            #expect(outcome["cachedContentUsed"] as? Bool == true)
            #expect((outcome["errors"] as? [Any])?.isEmpty == true)
            #expect(
                artifact["telemetry"] as? [String: Int] == ["scheduled": 1, "executed": 1, "success": 1, "used": 1]
            )
            let template = text(of: "\(run).md")
            #expect(template.contains("\n- Prefetch scheduled at: 2025-11-15T05:41:00Z\n"))
            #expect(template.contains("\n- Scenario ID(s) tested: SIM-1, SIM-2\n"))
        }
    }

    @Test("report prints without a file, and overwrites no file")
    func reportPrints() async throws {
        let markdown = try await Command.telemetry("report", Self.happy)
        #expect(markdown.text.hasPrefix("# Test run: notif-2025-11-15\n"))
        let json = try await Command.telemetry("report", Self.happy, "--format", "json")
        _ = try artifact(json.output)
        try await withTemporaryDirectory { directory in
            let run = "\(directory)/run"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(run).md"))
            let refused = try await Command.telemetry("report", Self.happy, "--out", run)
            #expect(refused.status == .code(2))
            #expect(refused.error == "Error: \(run).md: it is there already; --force replaces it\n")
            #expect(text(of: "\(run).md") == "mine")
            #expect(!FileManager.default.fileExists(atPath: "\(run).json"))
            let forced = try await Command.telemetry("report", Self.happy, "--out", run, "--force")
            #expect(forced.status == .code(0))
            #expect(text(of: "\(run).md") == markdown.text)
            #expect(contents(of: "\(run).json") == json.output)
        }
    }

    @Test("report refuses invalid names before it reads the input", arguments: ["", "/tmp/", "runs/"])
    func reportRefusesNames(out: String) async throws {
        let refused = try await Command.telemetry("report", "/nowhere/device.log", "--out", out)
        #expect(refused.status == .code(64))
        #expect(refused.error.hasPrefix("Error: expected --out as a name"))
    }

    @Test("report names a missing directory before it reads the input")
    func reportMissingDirectory() async throws {
        try await withTemporaryDirectory { directory in
            let refused = try await Command.telemetry(
                "report",
                "/nowhere/device.log",
                "--out",
                "\(directory)/no/run"
            )
            #expect(refused.status == .code(2))
            #expect(refused.error == "Error: \(directory)/no/run.json: there is no such directory\n")
        }
    }

    @Test("report names the line of a failure that has no time")
    func reportFailureLine() async throws {
        let log = """
            [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            nothing of ours
            [DNP-FETCH] Fetch failed: timeout

            """
        let command = try await Command.telemetry("report", "-", "--format", "json", input: log)
        let failures = try #require(artifact(command.output)["failures"] as? [[String: Any]])
        #expect(failures.first?["time"] is NSNull)
        #expect(failures.first?["line"] as? Int == 3)
        let markdown = try await Command.telemetry("report", "-", input: log)
        #expect(markdown.text.contains("- line 3: prefetch\\_failure"))
    }

    @Test("report writes the record of a run where the log has no cycle, or where the app is named")
    func reportRefresh() async throws {
        let refresh = ValidateTests.refresh
        let alone = try await Command.telemetry("report", "-", "--format", "json", input: refresh)
        #expect(alone.status == .code(0) && alone.error == "")
        #expect(try artifact(alone.output)["app"] as? String == "aiq")
        let both = text(of: Self.happy) + refresh
        let named = try await Command.telemetry("report", "-", "--app", "aiq", input: both)
        #expect(named.text.hasPrefix("# Test run: refresh at 2025-11-15T05:53:00Z\n"))
        let cycle = try await Command.telemetry("report", "-", input: both)
        let plain = try await Command.telemetry("report", Self.happy)
        #expect(cycle.text == plain.text && plain.error == "")
        #expect(
            cycle.error == "the input has 1 run of the background refresh (1 skipped), too; --app aiq reports them\n"
        )
        let all = try await Command.telemetry("report", "-", "--all", "--app", "aiq", input: both)
        #expect(all.status == .code(0) && all.text == named.text)
        for arguments in [["--app", "aiq", Self.happy], ["--app", "dnp", "-"], ["--cycle", "x", "-"]] {
            let none = try await Command.telemetry(["report"] + arguments, input: refresh)
            #expect(none.status == .code(1) && none.text == "" && none.error.hasPrefix("Error: the input holds no "))
        }
        let campaign = try await Command.telemetry("report", "campaign", "/nowhere", "--app", "aiq")
        #expect(campaign.status == .code(64))
    }

    @Test("report chooses the latest cycle, or the requested one")
    func reportChoosesCycle() async throws {
        let log = [Self.happy, Sample.path("events/full-cycle.ndjson")].map { text(of: $0) }.joined()
            .replacingOccurrences(of: "notif-a", with: "early")
            .replacingOccurrences(
                of: "2025-11-15T05:53:00Z\", \"scheduleId\"",
                with: "2025-11-14T05:53:00Z\", \"scheduleId\""
            )
        let latest = try await Command.telemetry("report", "-", "--format", "json", input: log)
        #expect(try artifact(latest.output)["scheduleId"] as? String == "notif-2025-11-15")
        let early = try await Command.telemetry("report", "-", "--format", "json", "--cycle", "early", input: log)
        #expect(try artifact(early.output)["scheduleId"] as? String == "early")
        let none = try await Command.telemetry("report", "-", "--cycle", "late", input: log)
        #expect(none.status == .code(1))
        #expect(none.text == "")
        #expect(none.error == "Error: the input holds no cycle of schedule \"late\"\n")
    }

    @Test(
        "report campaign ends with 0 where it is signed off, 1 where a point is not met, 2 where an artifact is broken"
    )
    func reportCampaign() async throws {
        try await withTemporaryDirectory { directory in
            let run = ["--device", "iPhone 15 Pro", "--power", "plugged", "--network", "wifi"]
            let written = try await Command.telemetry(["report", Self.happy, "--out", "\(directory)/run"] + run)
            #expect(written.status == .code(0))
            let open = try await Command.telemetry("report", "campaign", directory)
            #expect(open.status == .code(1))
            #expect(open.text.hasPrefix("# Test campaign: Phase 1 sign-off\n\n1 run on 2025-11-15\n"))
            #expect(open.text.hasSuffix("\nNot signed off.\n") && open.error == "")
            let deferred = ["simulator", "failure", "time"].flatMap { ["--defer", $0] }
            let closed = try await Command.telemetry(["report", "campaign", "\(directory)/run.json"] + deferred)
            #expect(closed.status == .code(0))
            try Data("{".utf8).write(to: URL(fileURLWithPath: "\(directory)/broken.json"))
            let broken = try await Command.telemetry(["report", "campaign", directory] + deferred)
            #expect(broken.status == .code(2))
            #expect(broken.error == "Error: \(directory)/broken.json: it is no JSON, or cut short\n")
            #expect(broken.text.contains("1 run on 2025-11-15; 1 artifact unreadable"))
        }
        for arguments in [
            ["campaign"], ["a.log", "b.log"], ["a.log", "--defer", "time"], ["campaign", ".", "--defer", "x"],
        ] {
            let refused = try await Command.telemetry(["report"] + arguments)
            #expect(refused.status == .code(64), "\(arguments)")
        }
    }

    @Test("report fills in the device from the events")
    func reportDevice() async throws {
        let log = #"""
            {"event":"prefetch_executed","timestamp":"2025-11-15T05:50:00Z","scheduleId":"a","osVersion":"17.2",\#
            "deviceModel":"iPhone16,1","appVersion":"2.0.1"}
            {"event":"prefetch_failure","timestamp":"2025-11-15T05:50:02Z","scheduleId":"a","reason":"AUTH"}

            """#
        let command = try await Command.telemetry("report", "-", "--format", "json", input: log)
        let artifact = try artifact(command.output)
        #expect(artifact["device"] as? String == "iPhone16,1")
        #expect(artifact["iosVersion"] as? String == "17.2")
        #expect(artifact["appBuild"] as? String == "2.0.1")
        let failures = try #require(artifact["failures"] as? [[String: Any]])
        #expect(failures.first?["reason"] as? String == "AUTH")
    }
}
