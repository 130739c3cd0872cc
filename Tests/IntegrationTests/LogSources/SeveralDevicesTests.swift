// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("lines of several devices that nothing tells apart")
struct SeveralDevicesTests {
    private static let warning = "look like those of several devices"

    private static func warnings(in log: String) -> Int {
        log.split(separator: "\n").count { $0.contains(warning) }
    }

    private struct Notes: Decodable {
        var notes: [String]?
    }

    /// The notes of an answer that refuses nothing.
    private func notes(_ answer: Answer) throws -> [String] {
        #expect(answer.status == 200)
        #expect(try answer.receipt().rejected.isEmpty)
        return try JSONDecoder().decode(Notes.self, from: Data(answer.text.utf8)).notes ?? []
    }

    @Test("posted logs of three phones without an id are answered with what to set, and logged once")
    func postedTogether() async throws {
        try await withService { service in
            let client = await service.client
            var found: [[String]] = []
            for path in Phones.paths + Phones.paths {
                found.append(try notes(await client.post(Phones.log(path), type: "text/plain")))
            }
            #expect(found[0].isEmpty)
            for notes in found[1...2] {
                #expect(notes.count == 1)
                #expect(notes.allSatisfy { $0.contains("two different results of one attempt") })
                #expect(notes.allSatisfy { $0.contains("X-Installation-Id") })
            }
            let both = try Phones.log(Phones.paths[0]) + Phones.log(Phones.paths[1])
            let named = try notes(
                await client.post(both, type: "text/plain", headers: ["X-Installation-Id": "phone"])
            )
            #expect(named.isEmpty)
            let source = try notes(await client.post(both, type: "text/plain", headers: ["X-Source-Id": "file"]))
            #expect(source.first?.contains("stamps that overlap") == true)
            try await eventually("it is logged") { await Self.warnings(in: service.log) == 1 }
        }
    }

    @Test("a line socket says once that the lines of two phones came, and refuses none")
    func lineSocket() async throws {
        try await withTemporaryDirectory { directory in
            let socket = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(socket) serve=lines"]) { service in
                for names in [["happy-stamped", "network-failure"], ["auth-failure"]] {
                    let lines = try names.flatMap { try Phones.log(Sample.path("logs/\($0).log")) }
                    let client = try await LinesClient.sent(lines, to: socket)
                    #expect(client.rejected == [])
                    let notes = client.answers.filter { $0.hasPrefix("note ") }
                    #expect(
                        notes.count == 1 && notes.allSatisfy { $0.contains("`installation ID`") },
                        "\(client.answers)"
                    )
                }
                try await eventually("it is logged") { await Self.warnings(in: service.log) == 1 }
            }
        }
    }

    @Test("a followed file with the lines of two phones is logged once, another one is not")
    func followedFile() async throws {
        try await withTemporaryDirectory { directory in
            let both = "\(directory)/both.log"
            let one = "\(directory)/one.log"
            try Data(try Phones.log(Phones.paths[0]) + Phones.log(Phones.paths[1])).write(
                to: URL(fileURLWithPath: both)
            )
            try Data(try Phones.log(Phones.paths[2])).write(to: URL(fileURLWithPath: one))
            try await withService(options: ["--follow", both, "--follow", one]) { service in
                try await eventually("all lines are read", every: .milliseconds(50)) {
                    try await service.client.metrics().sum("dnp_telemetry_log_lines_total") == 48
                }
                let log = await service.log
                #expect(Self.warnings(in: log) == 1 && log.contains("the log lines of \(both) look"), "\(log)")
            }
        }
    }

    @Test("validate notes a file of two phones, as text and JSON, and keeps its exit status")
    func validate() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/both.log"
            let lines = try Phones.log(Phones.paths[1]) + Phones.log(Phones.paths[0])
            try Data(lines).write(to: URL(fileURLWithPath: path))
            let text = try await Command.telemetry("validate", path)
            #expect(text.status == .code(1))
            #expect(text.text.contains("Note  \(path) looks like the log of several devices"), "\(text.text)")
            let json = try await Command.telemetry("validate", path, "--format", "json")
            #expect(
                json.text.contains("\"notes\":[\"\(path.replacing("/", with: "\\/")) looks")
                    || json.text.contains("\"notes\":[\"\(path) looks"),
                "\(json.text)"
            )
            let apart = try await Command.telemetry("validate", Phones.paths[1], Phones.paths[0])
            #expect(apart.status == .code(0) && !apart.text.contains("several devices"), "\(apart.text)")
        }
    }

    @Test("validate of stamps that overlap notes it and stays coherent")
    func coherentWithANote() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/both.log"
            let first = try Phones.log(Phones.paths[0])
            let second = String(decoding: first, as: UTF8.self).replacing(
                "notif-2025-11-15",
                with: "notif-2025-11-15-b"
            )
            .replacing("05:53:00Z", with: "05:54:00Z")
            try Data(first + Array(second.utf8)).write(to: URL(fileURLWithPath: path))
            let text = try await Command.telemetry("validate", path)
            #expect(text.text.contains("(stamps that overlap)"), "\(text.text)")
            #expect(text.status == .code(text.text.contains("incoherent") ? 1 : 0))
        }
    }
}

@Suite("devices of the followed journal")
struct JournalDeviceTests {
    /// Logs each phone's lines to the journal, one entry a line.
    private func log(_ journal: TestJournald, _ directory: String, _ fields: (Int) -> [String]) async throws {
        let logs = Phones.paths.map { text(of: $0).split(separator: "\n").map(String.init) }
        for half in 0..<2 {
            for (phone, lines) in logs.enumerated() {
                let part = half == 0 ? lines[..<(lines.count / 2)] : lines[(lines.count / 2)...]
                let path = "\(directory)/entry-\(phone)-\(half)"
                let entry = part.map { "MESSAGE=\($0)" } + fields(phone)
                try Data((entry.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
                let run = try await journal.namespace.run(["/usr/bin/logger", "--journald=\(path)"])
                #expect(run.status == .code(0), "\(run.error)")
            }
        }
    }

    @Test("three phones that three programs log to one journal are three devices", .timeLimit(.minutes(2)))
    func programs() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let matches = ["--follow-journal", "_TRANSPORT=journal"]
                try await withService(options: matches, in: journal.namespace) { service in
                    try await log(journal, directory) { ["SYSLOG_IDENTIFIER=phone-\($0)"] }
                    try await Phones.expectThree(service)
                }
            }
        }
    }

    @Test(
        "three phones that one program logs are three devices by the field that a setting names",
        .timeLimit(.minutes(2))
    )
    func field() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let options = [
                    "--follow-journal", "SYSLOG_IDENTIFIER=relay", "--follow-journal-device", "CONTAINER_NAME",
                ]
                try await withService(options: options, in: journal.namespace) { service in
                    try await log(journal, directory) { ["SYSLOG_IDENTIFIER=relay", "CONTAINER_NAME=phone-\($0)"] }
                    try await Phones.expectThree(service)
                }
            }
        }
    }

    @Test("three phones that one program logs without a field look like several devices", .timeLimit(.minutes(2)))
    func together() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let matches = ["--follow-journal", "SYSLOG_IDENTIFIER=relay"]
                try await withService(options: matches, in: journal.namespace) { service in
                    try await log(journal, directory) { _ in ["SYSLOG_IDENTIFIER=relay"] }
                    try await eventually("it is logged", within: .seconds(30)) {
                        await service.log.contains("set follow-journal-device")
                    }
                }
            }
        }
    }
}
