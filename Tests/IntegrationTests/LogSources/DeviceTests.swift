// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("whose lines they are")
struct DeviceTests {
    @Test("posted logs of three phones are three devices", arguments: ["X-Installation-Id", "X-Source-Id"])
    func postedPhones(header: String) async throws {
        try await withService { service in
            let client = await service.client
            for path in Phones.paths + Phones.paths {
                let answer = try await client.post(
                    Phones.log(path),
                    type: "text/plain",
                    headers: [header: path]
                )
                #expect(answer.status == 200)
            }
            try await Phones.expectThree(service)
        }
    }

    @Test("an event without an installation takes that of the header, and keeps its own")
    func postedEvents() async throws {
        try await withService { service in
            let client = await service.client
            func event(_ kind: String, _ second: Int, _ members: String = "") -> String {
                #"{"event":"\#(kind)","scheduleId":"a","timestamp":"2025-11-15T05:41:0\#(second)Z"\#(members)}"#
            }
            let own = #","installationId":"phone-1""#
            for (body, header) in [
                (event("prefetch_scheduled", 0, own), "phone-2"), (event("prefetch_scheduled", 1), "phone-2"),
                (event("prefetch_executed", 2), "phone-1"), (event("prefetch_executed", 3, own), "phone-2"),
            ] {
                let answer = try await client.post(
                    Array(body.utf8),
                    type: "application/json",
                    headers: ["X-Installation-Id": header]
                )
                #expect(try answer.receipt().accepted == 1)
            }
            let page = try await client.metrics()
            #expect(page.value("dnp_prefetch_open_cycles") == 2)
            #expect(page.value("dnp_prefetch_scheduled_total") == 2)
            #expect(page.value("dnp_prefetch_executed_total") == 2)
            for id in ["", String(repeating: "x", count: 257)] {
                let answer = try await client.post(
                    Array(event("prefetch_executed", 4).utf8),
                    type: "application/json",
                    headers: ["X-Installation-Id": id]
                )
                #expect(answer.status == 400, "\(answer.text)")
                #expect(answer.text.contains("Expected X-Installation-Id of 1 to 256 bytes"))
            }
        }
    }

    @Test("three phones on the line socket are three devices by the first line of their connection")
    func phonesOnTheLineSocket() async throws {
        try await withTemporaryDirectory { directory in
            let socket = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(socket) serve=lines"]) { service in
                for (name, path) in zip(Phones.names, Phones.paths) {
                    let lines = Array("installation \(name)\n".utf8) + (try Phones.log(path))
                    #expect(try await LinesClient.sent(lines, to: socket).rejected == [])
                }
                try await Phones.expectThree(service)
                let rejected = try await LinesClient.sent(Array("installation \nhello\n".utf8), to: socket).rejected
                #expect(rejected.count == 1)
                #expect(rejected.first?.hasPrefix("rejected 1 missing_field installationId") == true, "\(rejected)")
            }
        }
    }

    @Test("followed files of three phones are three devices, also after a restart")
    func followedPhones() async throws {
        try await withTemporaryDirectory { directory in
            let files = Phones.names.map { "\(directory)/\($0).log" }
            for (file, path) in zip(files, Phones.paths) {
                let log = try Phones.log(path)
                try Data(log[..<(log.count / 2)]).write(to: URL(fileURLWithPath: file))
            }
            try await withService(options: files.flatMap { ["--follow", $0] }) { service in
                let client = await service.client
                try await eventually("the first halves are read", every: .milliseconds(50)) {
                    try await client.metrics().sum("dnp_telemetry_log_lines_total") > 3
                }
                await service.kill()
                try await service.start()
                for (file, path) in zip(files, Phones.paths) {
                    let log = try Phones.log(path)
                    let handle = try #require(FileHandle(forWritingAtPath: file))
                    try handle.seekToEnd()
                    try handle.write(contentsOf: Data(log[(log.count / 2)...]))
                    try handle.close()
                }
                try await Phones.expectThree(service)
            }
        }
    }

    @Test("files of three phones that are sent are three devices, and sent again they count nothing")
    func sentPhones() async throws {
        try await withService { service in
            let url = "http://127.0.0.1:\(await service.client.port)"
            for path in Phones.paths + Phones.paths {
                let command = try await Command.telemetry("send", path, "--to", url)
                #expect(command.status == .code(0))
            }
            try await Phones.expectThree(service)
        }
    }

    @Test("the parts of one phone's log that are sent as one installation are one device")
    func sentParts() async throws {
        try await withService { service in
            let url = "http://127.0.0.1:\(await service.client.port)"
            let lines = text(of: Phones.paths[0]).split(separator: "\n")
            try await withTemporaryDirectory { directory in
                for (part, lines) in [lines[..<6], lines[6...]].enumerated() {
                    let path = "\(directory)/part-\(part)"
                    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
                    let command = try await Command.telemetry("send", path, "--to", url, "--installation", "phone")
                    #expect(command.status == .code(0))
                }
            }
            #expect(try await service.client.metrics().value("dnp_prefetch_open_cycles") == 1)
        }
    }
}
