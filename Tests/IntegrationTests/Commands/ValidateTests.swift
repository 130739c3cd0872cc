// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("validate")
struct ValidateTests {
    @Test("validate judges every sample as expected", arguments: Sample.all)
    func validateSamples(sample: Sample) async throws {
        let command = try await Command.telemetry("validate", "--format", "json", sample.path)
        let judged = try JudgedOutput(command)
        #expect(judged.counters == sample.expected.counters)
        #expect(judged.verdict == sample.expected.verdict)
        if let outcomes = sample.expected.outcomes { #expect(judged.cycles.map(\.outcome) == outcomes) }
        if let violations = sample.expected.violations {
            #expect(judged.cycles.flatMap(\.violations).map(\.violation) == violations)
        }
        #expect(judged.lines.read == judged.lines.recognised + judged.lines.foreign + judged.lines.unrecognised)
        #expect(command.status == .code(sample.expected.verdict == "coherent" ? 0 : 1))
        #expect(command.error == "")
    }

    @Test("the samples for validate are found")
    func validateHasSamples() {
        #expect(Sample.all.count >= 10)
    }

    @Test("validate judges standard input, gzip and several files as it judges one file")
    func validateSources() async throws {
        let happy = Sample.path("logs/happy-stamped.log")
        let one = try await Command.telemetry("validate", "--format", "json", happy)
        let piped = try await Command.telemetry("validate", "--format", "json", "-", input: text(of: happy))
        #expect(piped.output == one.output)
        try await withTemporaryDirectory { directory in
            let packed = "\(directory)/device.log.gz"
            let gzip = try await Command.run(["/bin/gzip", "-c", happy])
            try gzip.output.write(to: URL(fileURLWithPath: packed))
            let unpacked = try await Command.telemetry("validate", "--format", "json", packed)
            #expect(unpacked.output == one.output)
        }
        let both = try JudgedOutput(
            await Command.telemetry("validate", "--format", "json", happy, Sample.path("events/full-cycle.ndjson"))
        )
        #expect(both.cycles.map(\.scheduleId) == ["notif-2025-11-15", "notif-a"])
        #expect(both.counters.dnp_prefetch_used_for_notification_total == 2)
    }

    @Test("validate judges two phones with the same schedule ids as two devices, and names the file of each cycle")
    func validateTwoPhones() async throws {
        let files = ["happy-stamped.log", "network-failure.log", "auth-failure.log"].map { Sample.path("logs/\($0)") }
        let judged = try JudgedOutput(await Command.telemetry(["validate", "--format", "json"] + files))
        #expect(judged.verdict == "coherent")
        #expect(judged.counters.dnp_prefetch_executed_total == 3)
        #expect(judged.counters.dnp_prefetch_failure_total["NETWORK"] == 1)
        #expect(judged.counters.dnp_prefetch_failure_total["AUTH"] == 1)
        #expect(
            Set(judged.cycles.map { "\($0.file ?? "") \($0.outcome)" }) == [
                "\(files[0]) used", "\(files[1]) fallback", "\(files[2]) fallback",
            ]
        )
        let text = try await Command.telemetry(["validate"] + files)
        for file in files { #expect(text.text.contains(" \(file)\n")) }
        let joined = try JudgedOutput(await Command.telemetry(["validate", "--format", "json", "--join"] + files))
        #expect(joined.counters.dnp_prefetch_executed_total == 1)
        #expect(joined.cycles.allSatisfy { $0.file == nil })
    }

    @Test("validate judges the rotations of a log as the whole log, in whatever order they are named")
    func validateRotations() async throws {
        let whole = try await Command.telemetry("validate", "--format", "json", Sample.path("logs/happy-stamped.log"))
        let lines = text(of: Sample.path("logs/happy-stamped.log")).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        try await withTemporaryDirectory { directory in
            let log = "\(directory)/device.log"
            for cut in 1..<lines.count - 1 {
                let older = lines[..<cut].joined(separator: "\n") + "\n"
                try older.write(toFile: "\(log).1", atomically: true, encoding: .utf8)
                let newer = lines[cut...].joined(separator: "\n")
                try newer.write(toFile: log, atomically: true, encoding: .utf8)
                for files in [[log, "\(log).1"], ["\(log).1", log]] {
                    let judged = try await Command.telemetry(["validate", "--format", "json"] + files)
                    #expect(judged.output == whole.output)
                }
            }
        }
    }

    @Test("validate reads events as whole JSON documents", arguments: ["array", "envelope", "pretty"])
    func validateDocuments(form: String) async throws {
        let lines = text(of: Sample.path("events/full-cycle.ndjson")).split(separator: "\n").joined(
            separator: ",\n"
        )
        let document =
            switch form {
            case "array": "[\(lines)]"
            case "envelope": "{\"events\":[\(lines)]}"
            default: "\u{FEFF}\n{\n  \"sentAt\": \"2025-11-15T06:00:00Z\",\n  \"events\": [\n\(lines)\n]\n}\n"
            }
        let command = try await Command.telemetry("validate", "-", "--format", "json", input: document)
        let judged = try JudgedOutput(command)
        #expect(judged.verdict == "coherent")
        #expect(judged.cycles.map(\.outcome) == ["used"])
        #expect(judged.lines == .init(read: 5, recognised: 5, foreign: 0, unrecognised: 0))
    }

    @Test("validate prints the verdict last, and nothing else with --quiet")
    func validateVerdictLast() async throws {
        let happy = Sample.path("logs/happy-stamped.log")
        let whole = try await Command.telemetry("validate", happy)
        #expect(whole.text.hasSuffix("\ncoherent: 1 cycle (1 used)\n"))
        #expect(whole.text.contains("notif-2025-11-15  2025-11-15T05:53:00Z  used "))
        #expect(!whole.text.contains("\u{1B}"))
        let quiet = try await Command.telemetry("validate", "--quiet", happy)
        #expect(quiet.text == "coherent: 1 cycle (1 used)\n")
        #expect(quiet.error == "" && whole.error == "")
    }

    @Test("validate ends with 1 for no events, incoherent cycles and unmet expectations")
    func validateEndsWithOne() async throws {
        let nothing = try await Command.telemetry("validate", "-", "--quiet", input: "nothing of ours\n")
        #expect(nothing.status == .code(1))
        #expect(nothing.text == "empty: the input holds no lifecycle event\n")
        let failed = Sample.path("logs/network-failure.log")
        let unmet = try await Command.telemetry(
            "validate",
            failed,
            "--require",
            "executed,used",
            "--require",
            "failed"
        )
        #expect(unmet.status == .code(1))
        #expect(
            unmet.error == """
                --require used is unmet: no cycle's content was used for its notification
                --require failed is unmet: no cycle ended as failed

                """
        )
        let met = try await Command.telemetry(
            "validate",
            failed,
            "--require",
            "executed,failure,fallback,delivered"
        )
        #expect(met.status == .code(0))
        #expect(met.error == "")
    }

    @Test("validate ends with 2 and the reason when its input can't be read, and prints no result")
    func validateUnreadableInput() async throws {
        try await withTemporaryDirectory { directory in
            let zstd = "\(directory)/device.log.zst"
            try Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0]).write(to: URL(fileURLWithPath: zstd))
            let broken = "\(directory)/broken.gz"
            try Data([0x1F, 0x8B, 8, 0, 0]).write(to: URL(fileURLWithPath: broken))
            let foreign = "\(directory)/foreign.json"
            try Data("[{\"a\":1},{\"b\":2}]".utf8).write(to: URL(fileURLWithPath: foreign))
            let happy = Sample.path("logs/happy-stamped.log")
            for (path, words) in [
                ("\(directory)/missing.log", "there is no such file"), (directory, "it is a directory"),
                (zstd, "zstd"), (broken, "gzip"), (foreign, "no event in this JSON document can be read"),
            ] {
                let command = try await Command.telemetry("validate", happy, path)
                #expect(command.status == .code(2), "\(path)")
                #expect(command.text == "")
                #expect(command.error.hasPrefix("Error: \(path): "))
                #expect(command.error.contains(words))
            }
        }
    }

    @Test(
        "validate ends with 64 for wrong usage",
        arguments: [
            [], ["--format", "xml", "-"], ["--require", "glory", "-"], ["--input-format", "morse", "-"],
            ["--timezone", "Europe/Nowhere", "-"], ["-", "-"], ["--nonsense", "-"],
        ]
    )
    func validateWrongUsage(arguments: [String]) async throws {
        let command = try await Command.run([Service.binary(), "validate"] + arguments)
        #expect(command.status == .code(64))
        #expect(command.text == "")
        #expect(command.error.hasPrefix("Error: "))
    }

    @Test("validate explains unrecognised lines without personal data")
    func validateExplainsLines() async throws {
        let log = """
            2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z
            2025-11-15T05:41:01Z [DNP-FETCH] Sang a song
            2025-11-15T05:41:02Z [DNP-FETCH] Sang for someone@example.org

            """
        let hinted = try await Command.telemetry("validate", "-", input: log)
        #expect(hinted.error == "2 lines were not recognised; --explain lists them\n")
        let single = try await Command.telemetry("validate", "-", input: "[DNP-FETCH] Sang a song\n")
        #expect(single.error == "1 line was not recognised; --explain lists it\n")
        let command = try await Command.telemetry("validate", "-", "--explain", input: log)
        #expect(command.error == "")
        #expect(command.text.contains("\n  standard input:2: "))
        #expect(command.text.contains("Sang a song"))
        #expect(!command.text.contains("someone@"))
    }

    @Test("validate writes a JUnit report, and replaces an existing one")
    func validateJUnit() async throws {
        try await withTemporaryDirectory { directory in
            let report = "\(directory)/result.xml"
            try Data("old".utf8).write(to: URL(fileURLWithPath: report))
            let command = try await Command.telemetry(
                "validate",
                Sample.path("logs/happy-stamped.log"),
                "--junit",
                report,
                "--require",
                "used"
            )
            #expect(command.status == .code(0))
            let xml = text(of: report)
            #expect(xml.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "))
            #expect(xml.contains("tests=\"2\" failures=\"0\""))
            let nowhere = try await Command.telemetry(
                "validate",
                Sample.path("logs/happy-stamped.log"),
                "--junit",
                "\(directory)/no/result.xml"
            )
            #expect(nowhere.status == .code(2))
            #expect(nowhere.text == "", "it is told before the input is read")
            #expect(nowhere.error == "Error: \(directory)/no/result.xml: there is no such directory\n")
        }
    }

    @Test("validate prints the judgement even when the JUnit report can't be written")
    func validateUnwritableReport() async throws {
        let happy = Sample.path("logs/happy-stamped.log")
        let command = try await Command.telemetry("validate", happy, "--junit", "/dev/full")
        #expect(command.status == .code(2))
        #expect(command.text.hasSuffix("\ncoherent: 1 cycle (1 used)\n"))
        #expect(command.error == "Error: /dev/full: no space is left\n")
    }

    @Test("validate writes JUnit to standard output, and ends with 1 where a scenario or the sequence is unmet")
    func validateChecks() async throws {
        let happy = Sample.path("logs/happy-stamped.log")
        let junit = try await Command.telemetry("validate", happy, "--junit", "-", "--scenario", "dst", "--sequence")
        #expect(junit.status == .code(0))
        #expect(junit.text.hasPrefix("<?xml ") && junit.text.contains("tests=\"3\" failures=\"0\""))
        let unmet = try await Command.telemetry("validate", happy, "--quiet", "--scenario", "reboot")
        #expect(unmet.status == .code(1))
        #expect(unmet.text.contains("✗ reboot\n      expected a launch with hasPendingSchedules=true, found none\n"))
        let misspelt = try await Command.telemetry("validate", happy, "--scenario", "rebot")
        #expect(misspelt.status == .code(64) && misspelt.error.contains("found \"rebot\"; did you mean reboot?"))
        let list = try await Command.telemetry("validate", "--scenario", "list")
        #expect(list.status == .code(0) && list.text.split(separator: "\n").count == 21)
        let denied = try await Command.telemetry(
            "validate",
            "-",
            "--quiet",
            "--scenario",
            "permission-denied",
            input: "[DNP-PLUGIN] notifications_denied for scheduleDailyNotification\n"
        )
        #expect(denied.status == .code(0))
    }

    static let refresh = """
        2025-11-15T05:53:00Z [BackgroundRefresh] Background refresh task started
        2025-11-15T05:53:00Z [BackgroundRefresh] Skipping refresh: User not authenticated
        2025-11-15T05:53:00Z [BackgroundRefresh] Scheduled background refresh for 4.0 hours from now

        """

    @Test("validate holds a log of the background refresh against its own scenarios, sequence and requirements")
    func validateRefresh() async throws {
        for app in [[], ["--app", "aiq"]] {
            let shown = ["validate", "-", "--scenario", "refresh-fast-fail", "--require", "skipped,started"] + app
            let passed = try await Command.telemetry(shown, input: Self.refresh)
            #expect(passed.status == .code(0), "\(passed.error)")
            let failed = try await Command.telemetry(
                ["validate", "-", "--quiet", "--scenario", "refresh-expiration", "--sequence"] + app,
                input: Self.refresh
            )
            #expect(failed.status == .code(1))
            #expect(failed.text.contains("✗ refresh-expiration\n") && failed.text.contains("missing: Last test was\n"))
            let unmet = try await Command.telemetry(
                ["validate", "-", "--quiet", "--require", "notified"] + app,
                input: Self.refresh
            )
            #expect(unmet.status == .code(1))
            #expect(
                unmet.error == "--require notified is unmet: no run of the background refresh notified the user\n"
            )
        }
    }

    @Test(
        "options that mean nothing for an app are wrong usage where it alone is read",
        arguments: [
            (
                ["validate", "--app", "aiq", "--require", "used"],
                "expected --require with --app aiq as scheduled, started"
            ),
            (["validate", "--app", "dnp", "--require", "skipped"], "expected --require with --app dnp as registered"),
            (["validate", "--app", "aiq", "--scenario", "dst"], "expected --scenario dst without --app aiq"),
            (
                ["validate", "--app", "dnp", "--scenario", "refresh-cadence"],
                "expected --scenario refresh-cadence without --app dnp"
            ),
            (["validate", "--app", "aiq", "--schedule", "/nowhere"], "expected --schedule without --app aiq"),
            (["validate", "--app", "aiq", "--device"], "expected --device without --app aiq"),
            (["validate", "--app", "aiq", "--excerpt"], "expected --excerpt without --app aiq"),
            (["report", "--app", "aiq", "--cycle", "a"], "expected --cycle without --app aiq"),
        ]
    )
    func meaninglessOption(arguments: [String], says: String) async throws {
        let refused = try await Command.telemetry(arguments + ["-"], input: Self.refresh)
        #expect(refused.status == .code(64))
        #expect(refused.error.hasPrefix("Error: \(says)"), "\(refused.error)")
    }

    @Test("validate tells each stage of live input before the input ends")
    func validateLive() async throws {
        try await withTemporaryDirectory { directory in
            // The input ends once the stage is told, or after many looks at what is told.
            let script = """
                { head -n 9 "$1"; n=0; until grep -q executed "$2" || [ $n -gt 5000 ]; do n=$((n + 1)); done
                grep executed "$2" > "$3"; } | "$0" validate - --live --quiet 2> "$2"
                """
            _ = try await Command.run([
                "/bin/sh", "-c", script, Service.binary(), Sample.path("logs/happy-stamped.log"), "\(directory)/told",
                "\(directory)/before-the-end",
            ])
            #expect(text(of: "\(directory)/before-the-end") == "2025-11-15T05:50:00Z  executed  notif-2025-11-15\n")
        }
    }

    @Test("validate reads a named pipe once")
    func validateNamedPipe() async throws {
        try await withTemporaryDirectory { directory in
            let fifo = "\(directory)/log"
            #expect(unsafe mkfifo(fifo, 0o600) == 0)
            let command = try await Command.run([
                "/bin/sh", "-c", "cat \"$1\" > \"$2\" & exec \"$0\" validate --quiet \"$2\"", Service.binary(),
                Sample.path("logs/happy-stamped.log"), fifo,
            ])
            #expect(command.status == .code(0))
            #expect(command.text == "coherent: 1 cycle (1 used)\n")
        }
    }

    @Test("validate treats closed standard streams as empty", arguments: ["<&-", "<&- >&-", "<&- 2>&-"])
    func validateClosedStreams(closing: String) async throws {
        let command = try await Command.run([
            "/bin/sh", "-c", "exec \"$0\" validate - \(closing)", Service.binary(),
        ])
        #expect(command.status == .code(1))
        #expect(command.error == "")
        if !closing.contains(" >") {
            #expect(command.text.hasSuffix("\nempty: the input holds no lifecycle event\n"))
        }
    }

    @Test("validate says when there are events and none opens a cycle")
    func validateEventsWithoutCycle() async throws {
        let event = #"{"event":"telemetry_snapshot","timestamp":"2025-11-15T05:50:00Z"}"# + "\n"
        let command = try await Command.telemetry("validate", "--quiet", "-", input: event)
        #expect(command.status == .code(1))
        #expect(command.text == "empty: the input holds one event, which opens no cycle\n")
    }

    @Test("validate refuses an unknown line format as the service does")
    func validateUnknownFormat() async throws {
        let own = try await Command.telemetry("validate", "-", "--input-format", "morse")
        let served = try await Command.telemetry("serve", "--input-format", "morse")
        #expect(own.status == .code(64) && served.status == .code(64))
        let first = { (text: String) in text.split(separator: "\n").first }
        #expect(first(own.error) == first(served.error))
    }

    @Test("validate ends quietly when its reader goes away, and reports a full disk")
    func validateClosedOutput() async throws {
        let happy = Sample.path("logs/happy-stamped.log")
        let binary = try Service.binary()
        let closed = try await Command.run([
            "/bin/bash", "-c", "\"$0\" validate \"$1\" | true; exit ${PIPESTATUS[0]}", binary, happy,
        ])
        #expect(closed.status == .code(0))
        #expect(closed.error == "")
        let full = try await Command.run(["/bin/sh", "-c", "\"$0\" validate \"$1\" > /dev/full", binary, happy])
        #expect(full.status == .code(2))
        #expect(full.error == "Error: standard output cannot be written: No space left on device\n")
    }

    @Test("Ctrl-C ends the live input of validate, and what it has read is judged")
    func validateInterrupted() async throws {
        try await withTemporaryDirectory { directory in
            let fifo = "\(directory)/log"
            #expect(unsafe mkfifo(fifo, 0o600) == 0)
            let command = "exec \"$0\" validate --quiet - < \"$1\""
            let process = try ChildProcess(
                ["/bin/sh", "-c", command, Service.binary(), fifo],
                logs: directory,
                name: "validate"
            )
            let writer = try #require(FileHandle(forWritingAtPath: fifo))
            try writer.write(contentsOf: contents(of: Sample.path("logs/happy-stamped.log")))
            try await eventually("the log has been read") {
                var waiting: Int32 = 0
                return unsafe ioctl(writer.fileDescriptor, UInt(FIONREAD), &waiting) == 0 && waiting == 0
            }
            await process.signal(SIGINT)
            #expect(try await process.waitForExit() == .code(0))
            #expect(String(decoding: process.output, as: UTF8.self) == "coherent: 1 cycle (1 used)\n")
            try writer.close()
        }
    }

    @Test("validate reads stamps without a zone in the configured zone")
    func validateTimeZone() async throws {
        let log = text(of: Sample.path("logs/happy-stamped.log"))
            .replacingOccurrences(
                of: #"(?m)^2025-11-15T(\d\d:\d\d:\d\d)Z "#,
                with: "2025-11-15 $1 ",
                options: .regularExpression
            )
        let command = try await Command.telemetry(
            "validate",
            "-",
            "--format",
            "json",
            "--timezone",
            "+02:00",
            input: log
        )
        let cycle = try #require(JudgedOutput(command).cycles.first)
        #expect(cycle.stages["scheduled"] == "2025-11-15T03:41:00Z")
    }
}
