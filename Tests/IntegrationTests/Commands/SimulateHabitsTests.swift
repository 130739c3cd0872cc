// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("simulate --like")
struct SimulateHabitsTests {
    @Test("a fleet takes its habits from a log, says what they are, and lists them")
    func likeALog() async throws {
        let directory = try TemporaryDirectory()
        let log = directory.file("phone.log")
        let plan = ["--days", "40", "--seed", "4", "--format", "lines", "--wrapper", "oslog-compact", "--out", log]
        let written = try await Command.run([Service.binary(), "simulate", "--scenario", "expiry"] + plan)
        #expect(written.status == .code(0), "\(written.error)")
        let like = ["simulate", "--like", log, "--timezone", "UTC"]
        let listed = try await Command.run([Service.binary()] + like + ["--list"])
        #expect(listed.text.contains("  expired                   100.0 % of passes whose task the system ends\n"))
        #expect(listed.text.contains("  late                      0.0 % "))
        let told = try await Command.run([Service.binary()] + like + ["--seed", "5", "--devices", "30"])
        #expect(told.status == .code(0), "\(told.error)")
        #expect(told.error.hasPrefix("seed 5\nlike "))
        #expect(told.error.contains("40 passes; delay "))
        #expect(told.text.split(separator: "\n").count { $0.contains("prefetch_expired") } > 150)
    }

    @Test("a log without a pass, and one that is not there, are told with status 2")
    func nothingToLearn() async throws {
        let directory = try TemporaryDirectory()
        let log = directory.file("empty.log")
        try Files.write(Array("2025-11-15T05:40:00Z [DNP-PLUGIN] status = ready\n".utf8), to: log)
        let empty = try await Command.telemetry("simulate", "--like", log)
        #expect(empty.status == .code(2))
        #expect(empty.error.contains("expected passes of a schedule whose task was due, found none"))
        let missing = try await Command.telemetry("simulate", "--like", log + ".1")
        #expect(missing.status == .code(2))
        #expect(missing.error.contains("Error: --like: \(log).1: there is no such file"))
        let zone = try await Command.telemetry("simulate", "--timezone", "UTC")
        #expect(zone.status == .code(64))
    }
}
