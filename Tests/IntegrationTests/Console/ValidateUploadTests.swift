// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("uploads to the console")
struct ValidateUploadTests {
    private static let path = "/api/v1/validate"

    private func judge(
        _ body: [UInt8],
        _ service: Service,
        query: String = "",
        encoding: String? = nil
    ) async throws -> Answer {
        try await service.client.post(body, type: "text/plain", encoding: encoding, to: Self.path + query)
    }

    @Test("an upload gets byte by byte what the command prints, for every sample in every form")
    func sameAsTheCommand() async throws {
        try await withService { service in
            // Lines without a time have that of the run.
            for sample in Sample.all where !sample.path.contains("bare") {
                let body = try Files.read(sample.path)
                let input = text(of: sample.path)
                for (query, command) in [
                    ("", ["validate", "-", "--format", "json"]), ("?format=text", ["validate", "-"]),
                    ("?format=text&hints=true&strict=true", ["validate", "-", "--hints", "--strict"]),
                    ("?format=junit&require=used", ["validate", "-", "--junit", "-", "--require", "used"]),
                    ("?sequence=true&hints=false", ["validate", "-", "--format", "json", "--sequence", "--no-hints"]),
                    (
                        "?app=aiq&timezone=%2B02:00",
                        ["validate", "-", "--format", "json", "--app", "aiq", "--timezone", "+02:00"]
                    ),
                    ("?format=markdown", ["report", "-"]), ("?format=artifact", ["report", "-", "--format", "json"]),
                ] {
                    let printed = try await Command.telemetry(command, input: input)
                    let answer = try await judge(body, service, query: query)
                    guard !printed.output.isEmpty else {
                        #expect(answer.status == 422, "\(sample) \(query)")
                        continue
                    }
                    #expect(answer.status == 200, "\(sample) \(query)")
                    #expect(answer.body == Array(printed.output), "\(sample) \(query)")
                }
                let packed = try await judge(try Program.gzip(body), service)
                let declared = try await judge(try Program.gzip(body), service, encoding: "gzip")
                let plain = try await judge(body, service)
                #expect(packed.body == plain.body && declared.body == plain.body)
            }
        }
    }

    @Test("nothing of an upload enters the ledger, the journal or the log, and it is counted by verdict")
    func nothingStored() async throws {
        try await withService { service in
            let secret = "secret-installation-of-an-upload"
            let event = #"{"event":"prefetch_scheduled","timestamp":"2026-11-22T06:00:00Z","#
            let line = event + #""scheduleId":"n","installationId":"\#(secret)"}"#
            #expect(try await judge(Array(line.utf8), service).status == 200)
            #expect(try await judge(try Files.read(Sample.path("logs/happy-stamped.log")), service).status == 200)
            #expect(try await judge([], service).status == 200)
            let page = try await service.client.metrics()
            #expect(page.sum("dnp_telemetry_events_received_total") == 0)
            #expect(page.value("dnp_telemetry_ledger_sequence") == 0)
            #expect(page.value("dnp_telemetry_console_judged_total", ["verdict": "coherent"]) == 2)
            #expect(page.sum("dnp_telemetry_console_judged_total") == 3)
            #expect(await !service.log.contains(secret))
        }
    }

    @Test("hostile uploads get a judgement or a clear problem, never an error of the service")
    func hostileUploads() async throws {
        let zeros = [UInt8](repeating: 0, count: 2 << 20)
        let random = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let happy = try Files.read(Sample.path("logs/happy-stamped.log"))
        let packed = try Program.gzip(happy)
        let bomb = try Program.gzip([UInt8](repeating: 0x61, count: 40 << 20), level: 9)
        try await withService { service in
            for (body, encoding, statuses) in [
                ([], nil, [200]), (zeros, nil, [200, 400]), (random, nil, [200, 400]),
                (Array("\u{1B}[31mred\u{1B}[0m\u{0}\n".utf8) + happy, nil, [200]),
                ([UInt8](repeating: 0x78, count: 10 << 20), nil, [200]),
                (Array(packed.dropLast(20)), nil, [400]), (packed.prefix(3) + random, nil, [400]),
                (happy, "gzip", [400]), (happy, "br", [415]), (bomb, nil, [413]), (bomb, "gzip", [413]),
                ([UInt8](repeating: 0x5B, count: 1 << 20), nil, [200, 400]),
                (Array("PK\u{3}\u{4}zip".utf8), nil, [400]),
            ] as [([UInt8], String?, [Int])] {
                let answer = try await judge(body, service, encoding: encoding)
                #expect(statuses.contains(answer.status), "\(body.prefix(8)) \(answer.status)")
                if answer.status != 200 { #expect(try answer.problem().status == answer.status) }
            }
            let page = try await service.client.metrics()
            #expect(page.value("dnp_telemetry_console_refused_total", ["reason": "ratio"]) == 2)
            #expect(page.value("dnp_telemetry_console_refused_total", ["reason": "encoding"]) == 1)
        }
    }

    @Test("the console's pseudonym of an id is the one of its events, and the id is not in the log")
    func pseudonym() async throws {
        try await withService { service in
            let id = "phone \"7\" – é"
            let body = try JSONSerialization.data(withJSONObject: ["installation": id])
            let path = "/api/v1/pseudonym"
            let answer = try await service.client.post(Array(body), type: "application/json", to: path)
            #expect(answer.status == 200)
            let given = try JSONDecoder().decode([String: String].self, from: Data(answer.body))["installation"] ?? ""
            #expect(given.count == 32 && given.allSatisfy(\.isHexDigit))
            let typed = [#"{"installation":""}"#, #"{"installation":7}"#, #"{"installation":"a","b":1}"#]
            for bad in ["", "[]", "{}"] + typed {
                #expect(try await service.client.post(Array(bad.utf8), to: path).status == 400)
            }
            #expect(try await service.client.post([UInt8](repeating: 0x20, count: 5_000), to: path).status == 413)
            #expect(await !service.log.contains("phone"))
        }
    }
}
