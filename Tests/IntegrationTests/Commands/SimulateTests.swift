// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("simulate")
struct SimulateTests {
    private func object(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("replay counts of a fleet with faults what its truth says")
    func truthOfReplay() async throws {
        let directory = try TemporaryDirectory()
        let (fleet, truth) = (directory.file("fleet.ndjson"), directory.file("truth.json"))
        let simulated = try await Command.telemetry(
            "simulate",
            "--devices",
            "50",
            "--days",
            "10",
            "--seed",
            "11",
            "--scenario",
            "everyday,refresh-everyday",
            "--faults",
            "random",
            "--out",
            fleet,
            "--truth",
            truth,
            "--per-device"
        )
        #expect(simulated.status == .code(0), "\(simulated.error)")
        #expect(simulated.error.hasPrefix("seed 11, faults duplicate="))
        let page = try await Command.telemetry("replay", fleet)
        let told = try object(truth)
        #expect(told["seed"] as? Int == 11)
        #expect((told["perDevice"] as? [Any])?.count == 50)
        let series = try #require(told["series"] as? [String: Int])
        #expect(series.count > 12)
        let samples = Dictionary(
            page.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
                line.lastIndex(of: " ").map { (String(line[..<$0]), Int(line[line.index(after: $0)...])) }
            }
        ) { first, _ in first }
        for (name, value) in series { #expect(samples[name] == .some(value), "\(name)") }
    }

    @Test("the lines of several devices are written to a directory, a file each, which validate accepts")
    func linesOfDevices() async throws {
        let directory = try TemporaryDirectory()
        let logs = directory.file("logs")
        let options = ["simulate", "--scenario", "reboot", "--devices", "3", "--format", "lines", "--seed", "7"]
        let refused = try await Command.run([Service.binary()] + options)
        #expect(refused.status == .code(64))
        #expect(refused.error.contains("each has a file of its own"))
        let simulated = try await Command.run([Service.binary()] + options + ["--out", logs])
        #expect(simulated.status == .code(0), "\(simulated.error)")
        let files = (0..<3).map { "\(logs)/device-000000\($0).log" }
        let judged = try await Command.run([Service.binary(), "validate"] + files + ["--scenario", "reboot"])
        #expect(judged.status == .code(0), "\(judged.text)")
        let again = try await Command.run([Service.binary()] + options + ["--out", logs])
        #expect(again.status == .code(2))
        #expect(again.error.contains("Error: seed 7: "))
        #expect(again.error.contains("it exists; --force replaces it"))
    }

    @Test(
        "a fleet that nobody reads any more ends, and so does its truth",
        arguments: ["--devices 100000 --days 30", "--devices 1000 --truth - --per-device"]
    )
    func endsWithItsReader(options: String) async throws {
        let script = "\"$0\" simulate \(options) | head -c 100 > /dev/null; exit ${PIPESTATUS[0]}"
        let ended = try await Command.run(["/bin/bash", "-c", script, Service.binary()])
        #expect(ended.status == .code(141))
    }

    @Test("the same seed gives the same bytes")
    func sameSeed() async throws {
        let first = try await Command.telemetry("simulate", "--seed", "3", "--devices", "4")
        let second = try await Command.telemetry("simulate", "--seed", "3", "--devices", "4")
        #expect(first.text == second.text)
        #expect(first.text.count > 1_000)
    }

    @Test(
        "what cannot be simulated is told in words",
        arguments: [
            (["--scenario", "rebot"], "unknown scenario rebot; did you mean reboot?"),
            (["--scenario", "nothing-like-it"], "unknown scenario nothing-like-it; --list has the names"),
            (["--faults", "zone=1.5"], "expected zone=RATE with a rate from 0 to 1"),
            (["--faults", "zome=0.5"], "unknown fault zome; did you mean zone?"),
            (["--faults", "/nowhere/faults"], "expected random, name=rate or a file"),
            (["--start", "2019-12-31"], "expected a start in 2020 or later"),
            (["--start", "yesterday"], "expected --start as 2025-10-25"),
            (["--devices", "0"], "expected 1 to 10000000 devices, found 0"),
            (["--days", "1", "--scenario", "multi-day"], "multi-day takes 2 days or more"),
            (["--wrapper", "stamped"], "expected --format lines with --wrapper"),
            (["--format", "lines", "--wrapper", "paper"], "unknown wrapper paper; expected one of bare, "),
            (["--app", "aiq", "--scenario", "reboot"], "reboot is no scenario of --app aiq"),
            (["--speed", "100"], "1440"),
            (["--speed", "60", "--format", "lines"], "expected --format events with --speed 60"),
            (["--speed", "1440", "--devices", "10001"], "expected at most 10000 devices with --speed 1440"),
            (["--per-device"], "expected --truth with --per-device"),
            (["--scenario", ","], "expected a scenario, found none"),
            (
                ["--out", "/tmp/a", "--truth", "/tmp/./a", "--force"],
                "expected --out and --truth in two places, found /tmp/a"
            ),
            (["--out", "-", "--truth", "-"], "expected --out and --truth in two places, found - for both"),
        ]
    )
    func wrongUsage(options: [String], words: String) async throws {
        let command = try await Command.run([Service.binary(), "simulate"] + options)
        #expect(command.status == .code(64))
        #expect(command.error.contains(words), "\(command.error)")
    }

    @Test("the list names every scenario and fault, and so does the document")
    func list() async throws {
        let listing = try await Command.telemetry("simulate", "--list").text
        let names = listing.split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        let docs = URL.repository.appendingPathComponent("docs")
        let pages = ["simulator.md", "scenarios.md"].map { text(of: docs.appendingPathComponent($0).path) }.joined()
        #expect(names.count > 30)
        for name in names { #expect(pages.contains("| `\(name)` |"), "\(name)") }
    }

    @Test("a service that was sent a fleet with faults counts what its truth says, and another seed differs")
    func verifiesService() async throws {
        let directory = try TemporaryDirectory()
        let (fleet, truth) = (directory.file("fleet.ndjson"), directory.file("truth.json"))
        let plan = [
            "--devices", "100", "--days", "10", "--scenario", "everyday,everyday,refresh-everyday", "--faults",
            "random",
        ]
        let binary = try Service.binary()
        let options = plan + ["--seed", "21"]
        let simulated = try await Command.run([binary, "simulate"] + options + ["--out", fleet, "--truth", truth])
        #expect(simulated.status == .code(0), "\(simulated.error)")
        try await withService(options: []) { service in
            let url = await "http://127.0.0.1:\(service.client.port)"
            let empty = try await Command.run([binary, "simulate"] + options + ["--verify", url])
            #expect(empty.status == .code(1))
            #expect(empty.text.hasPrefix("different, seed 21: dnp_prefetch_scheduled_total: expected "))
            let sent = try await Command.telemetry("send", fleet, "--to", url)
            #expect(sent.status == .code(0), "\(sent.error)")
            let again = try await Command.telemetry("send", fleet, "--to", url)
            #expect(again.text.hasPrefix("0 accepted, "))
            let verified = try await Command.run([binary, "simulate"] + options + ["--verify", url])
            #expect(verified.status == .code(0), "\(verified.text)")
            let byFile = try await Command.telemetry("simulate", "--truth", truth, "--verify", url)
            #expect(byFile.status == .code(0), "\(byFile.text)")
            let other = try await Command.telemetry("simulate", "--truth", truth, "--seed", "22", "--verify", url)
            #expect(other.status == .code(2))
            #expect(other.error.contains("is the truth of seed 21, not of seed 22"))
        }
    }

    @Test("a collector that cannot be reached is told with the seed and status 2")
    func verifiesNobody() async throws {
        let unreachable = try await Command.telemetry(
            "simulate",
            "--seed",
            "5",
            "--verify",
            "unix:/nowhere/collector.sock"
        )
        #expect(unreachable.status == .code(2))
        #expect(unreachable.error.contains("Error: seed 5: unix:/nowhere/collector.sock"))
        let seedless = try await Command.telemetry("simulate", "--verify", "http://127.0.0.1:1")
        #expect(seedless.status == .code(64))
    }
}
