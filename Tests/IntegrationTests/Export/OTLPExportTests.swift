// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// What a receiver has, held against the ledger's numbers.
private struct Received {
    let bodies: [String: Set<String>]
    let count: Int
    /// The numbers in the ledger, of any life.
    let numbers: Set<UInt64>

    init(_ records: [ExportReceiver.Record]) {
        bodies = Dictionary(grouping: records, by: \.identity).mapValues { Set($0.map(\.body)) }
        count = records.count
        numbers = Set(bodies.keys.compactMap { $0.split(separator: ":").last.flatMap { UInt64($0) } })
    }

    /// Every number up to the last, each with one body.
    func expectAll(sourceLocation: SourceLocation = #_sourceLocation) {
        let missing = (1...max(numbers.max() ?? 0, 1)).filter { !numbers.contains($0) }
        #expect(
            missing.isEmpty,
            "\(missing.count) are missing, as \(missing.prefix(3))",
            sourceLocation: sourceLocation
        )
        #expect(bodies.count == numbers.count, "a number stands in two lives", sourceLocation: sourceLocation)
        #expect(bodies.allSatisfy { $0.value.count == 1 }, "one identity, two records", sourceLocation: sourceLocation)
    }
}

extension MetricsPage {
    fileprivate var sequence: UInt64 { UInt64(value("dnp_telemetry_ledger_sequence") ?? 0) }

    fileprivate func export(_ name: String, _ signal: String) -> Double? {
        value("dnp_telemetry_export_\(name)", ["destination": "otlp", "signal": signal])
    }
}

private func waitForAll(
    _ service: Service,
    _ receiver: ExportReceiver,
    within limit: Duration = .seconds(60)
) async throws {
    let client = await service.client
    try await eventually("the receiver has every number", within: limit, every: .milliseconds(100)) {
        Received(await receiver.records).numbers.count == Int(try await client.metrics().sequence)
    }
}

@Suite("export by OTLP to a receiver of its own")
struct OTLPExportTests {
    @Test(
        "each event arrives once with what the journal says of it, and the counters equal the page",
        arguments: ["", " encoding=json", " compression=none", " encoding=json compression=none"]
    )
    func eventsAndMetricsArrive(attributes: String) async throws {
        try await withExportReceiver { receiver in
            let address = receiver.address
            try await withService(options: ["--export", "otlp \(address) interval=1s\(attributes)"]) { service in
                let client = await service.client
                let batch = EventFactory(prefix: "otlp", hasRuns: true).cycles(0..<50)
                #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)
                try await waitForAll(service, receiver)
                let records = await receiver.records
                Received(records).expectAll()
                #expect(records.count == Received(records).numbers.count)
                let failure = try #require(records.first { $0.event == "prefetch_failure" })
                #expect(failure.severity == 13 && failure.body.contains("\"event\":\"prefetch_failure\""))
                #expect(failure.time < failure.observed)
                try await eventually("the counters of OTLP are those of the page") {
                    let (page, sums) = (try await client.metrics(), await receiver.sums)
                    return PageFamilies.names.allSatisfy { sums[$0] == page.sum($0) && page.sum($0) > 0 }
                }
                #expect(await receiver.seriesStarts.allSatisfy { $0.value.count == 1 })
                for request in await receiver.requests {
                    let isPlain = attributes.contains("none") || request.size < 1_024
                    #expect((request.headers["Content-Encoding"] == nil) == isPlain)
                    let type = attributes.contains("json") ? "application/json" : "application/x-protobuf"
                    #expect(request.headers["Content-Type"] == type)
                }
                try await eventually("all of it counts as sent") {
                    let page = try await client.metrics()
                    return page.export("sent_total", "logs") == Double(page.sequence) && page.export("up", "logs") == 1
                }
            }
        }
    }

    @Test("headers come from the credentials directory and are read again for each request")
    func headersAreRotated() async throws {
        try await withExportReceiver { receiver in
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/otlp-headers"
                try Data("Authorization: Bearer one\n".utf8).write(to: URL(fileURLWithPath: file))
                try Data("unused-token-of-the-ingest-0123456789\n".utf8)
                    .write(to: URL(fileURLWithPath: "\(directory)/token-a"))
                let address = receiver.address
                let options = [
                    "--credentials-dir", directory, "--export",
                    "otlp \(address) interval=1s headers=otlp-headers only=metrics",
                ]
                try await withService(options: options) { _ in
                    func has(_ token: String) async -> Bool {
                        await receiver.requests.contains { $0.headers["Authorization"] == "Bearer \(token)" }
                    }
                    try await eventually("the first header arrives") { await has("one") }
                    try Data("Authorization: Bearer two\n".utf8).write(to: URL(fileURLWithPath: file))
                    try await eventually("the second header arrives") { await has("two") }
                }
            }
        }
    }

    @Test("the variables of OpenTelemetry make a destination, and its resource")
    func variablesOfOpenTelemetry() async throws {
        try await withExportReceiver { receiver in
            let wrapper = [
                "/usr/bin/env", "OTEL_EXPORTER_OTLP_ENDPOINT=\(receiver.address)/",
                "OTEL_EXPORTER_OTLP_HEADERS=x-scope=a%20b", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
                "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json", "OTEL_SERVICE_NAME=phones",
                "OTEL_METRIC_EXPORT_INTERVAL=1000",
            ]
            try await withService(wrapper: wrapper) { service in
                let client = await service.client
                let batch = EventFactory(prefix: "env").cycles(0..<20)
                _ = try await client.post(batch.ndjson)
                try await waitForAll(service, receiver)
                try await eventually("metrics arrive") { await !receiver.sums.isEmpty }
                let requests = await receiver.requests
                #expect(requests.allSatisfy { $0.headers["x-scope"] == "a b" })
                for request in requests {
                    let isLogs = request.path == "/v1/logs"
                    #expect(isLogs || request.path == "/v1/metrics")
                    let type = isLogs ? "application/json" : "application/x-protobuf"
                    #expect(request.headers["Content-Type"] == type)
                }
            }
        }
    }

    @Test(
        "a receiver that cannot take a request now gets it again until it can",
        arguments: [
            "429", "502", "503 Retry-After=1", "504", "silent", "half", "garbage", "huge", "slow",
        ]
    )
    func retriedAnswers(mode: String) async throws {
        try await withExportReceiver { receiver in
            try await receiver.answer(mode)
            let address = receiver.address
            let options = ["--export", "otlp \(address) only=logs timeout=500ms"]
            try await withService(options: options) { service in
                let client = await service.client
                let batch = EventFactory(prefix: "hostile").cycles(0..<10)
                #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)
                try await eventually("it was tried again") {
                    try await client.metrics().export("retries_total", "logs") ?? 0 >= 2
                }
                #expect(try await client.metrics().export("up", "logs") == 0)
                #expect(await receiver.records.isEmpty)
                try await receiver.answer("200")
                try await waitForAll(service, receiver)
                Received(await receiver.records).expectAll()
                let page = try await client.metrics()
                #expect(page.export("refused_total", "logs") == 0)
                #expect(page.export("up", "logs") == 1)
            }
        }
    }

    @Test(
        "a refusal is final: counted, told, and not sent again",
        arguments: ["400", "401", "404", "500", "501", "301 Location=http://127.0.0.1:1/v1/logs"]
    )
    func finalAnswers(mode: String) async throws {
        try await withExportReceiver { receiver in
            try await receiver.answer(mode)
            let address = receiver.address
            try await withService(options: ["--export", "otlp \(address) only=logs"]) { service in
                let client = await service.client
                let batch = EventFactory(prefix: "refused").cycles(0..<10)
                #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)
                try await eventually("all of it is refused") {
                    try await client.metrics().export("refused_total", "logs") ?? 0 >= Double(batch.count)
                }
                let page = try await client.metrics()
                #expect(page.export("retries_total", "logs") == 0)
                #expect(page.export("sent_total", "logs") == 0)
                #expect(await service.log.contains("a destination refused what it got"))
                try await receiver.answer("200")
                _ = try await client.post(EventFactory(prefix: "later").cycles(0..<10).ndjson)
                try await eventually("what follows is taken") { await !receiver.records.isEmpty }
                let numbers = Received(await receiver.records).numbers
                #expect(!numbers.contains(1) && numbers.contains(UInt64(batch.count) + 1))
            }
        }
    }

    @Test("a partial success is counted as refused and not repeated, and a warning of a destination is told")
    func partialSuccess() async throws {
        try await withExportReceiver { receiver in
            try await receiver.answer("partial 3")
            let address = receiver.address
            try await withService(options: ["--export", "otlp \(address) only=logs"]) { service in
                let client = await service.client
                let batch = EventFactory(prefix: "partial").cycles(0..<1)
                _ = try await client.post(batch.ndjson)
                try await eventually("three records are refused") {
                    try await client.metrics().export("refused_total", "logs") ?? 0 >= 3
                }
                let records = await receiver.records
                #expect(records.count >= batch.count && Received(records).numbers.count == records.count)
                #expect(await service.log.contains("refused what it got: not all of it"))
                try await receiver.answer("partial 0")
                _ = try await client.post(EventFactory(prefix: "warned").cycles(0..<1).ndjson)
                try await eventually("a warning without a refusal is told") {
                    await service.log.contains("took all and warns, which is told once: not all of it")
                }
            }
        }
    }

    @Test("a request that is too large is cut until it is taken")
    func tooLarge() async throws {
        try await withExportReceiver { receiver in
            try await receiver.answer("503")
            let address = receiver.address
            try await withService(options: ["--export", "otlp \(address) only=logs"]) { service in
                let client = await service.client
                let batch = EventFactory(prefix: "large").cycles(0..<50)
                _ = try await client.post(batch.ndjson)
                try await receiver.answer("413")
                try await eventually("it is cut") { await receiver.requests.filter { $0.mode == ["413"] }.count > 4 }
                let sizes = await receiver.requests.filter { $0.mode == ["413"] }.prefix(4).map(\.size)
                #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 > $1 }, "\(sizes)")
                try await receiver.answer("200")
                try await eventually("the rest is taken") {
                    let page = try await client.metrics()
                    let done = (page.export("sent_total", "logs") ?? 0) + (page.export("refused_total", "logs") ?? 0)
                    return done == Double(page.sequence)
                }
            }
        }
    }

    @Test("what a dead destination holds back is limited: ingest goes on, and what is dropped is told")
    func deadDestination() async throws {
        let port = try FreePort.any()
        let options = ["--export", "otlp http://127.0.0.1:\(port) only=logs", "--export-backlog", "16MiB"]
        try await withService(options: options) { service in
            let client = await service.client
            var sent: UInt64 = 0
            for round in 0..<16 {
                let batch = EventFactory(prefix: "dead-\(round)-\(String(repeating: "x", count: 90))").cycles(0..<8_000)
                sent += UInt64(try await client.post(batch.ndjson).receipt().accepted)
            }
            try await eventually("events are dropped", within: .seconds(60)) {
                let page = try await client.metrics()
                return page.value("dnp_telemetry_export_dropped_total", ["destination": "otlp"]) ?? 0 > 0
            }
            let page = try await client.metrics()
            #expect(page.value("dnp_telemetry_export_lag_events", ["destination": "otlp"]) ?? 0 >= Double(sent))
            #expect(page.sum("dnp_telemetry_events_accepted_total") >= Double(sent))
        }
    }
}

@Suite("export by OTLP and kill -9")
struct ExportKillTests {
    /// More of them: `DNP_EXPORT_ROUNDS=200`.
    private static let rounds =
        ProcessInfo.processInfo.environment["DNP_EXPORT_ROUNDS"].flatMap { Int($0) } ?? 12

    @Test("kills of service and receiver lose no event, and move no series' start", .timeLimit(.minutes(30)))
    func killsLoseNothing() async throws {
        try await withExportReceiver { receiver in
            let address = receiver.address
            let options = ["--export", "otlp \(address) interval=1s"]
            try await withService(options: options) { service in
                let client = await service.client
                let stop = StopSignal()
                async let sending = Sender(client: client, name: "export", usesKeys: true, cycles: 1...20)
                    .run(until: stop)
                var random = SplitMix64(seed: 22)
                for round in 0..<Self.rounds {
                    let wanted = await receiver.takenBytes + UInt64.random(in: 1...2_000_000, using: &random)
                    try await eventually("the receiver has taken some more", every: .milliseconds(5)) {
                        await receiver.takenBytes >= wanted
                    }
                    if round % 3 != 1 {
                        await service.kill()
                        try await service.start()
                    }
                    if round % 3 != 0 {
                        await receiver.kill()
                        try await receiver.start()
                    }
                }
                stop.set()
                let delivery = try await sending
                try await waitForAll(service, receiver, within: .seconds(90))
                let page = try await client.metrics()
                let records = await receiver.records
                let received = Received(records)
                print("export kill test: \(Self.rounds) rounds, \(page.sequence) records, \(records.count) received")
                received.expectAll()
                #expect(page.sequence >= UInt64(delivery.acknowledged.count))
                let starts = await receiver.seriesStarts
                let moved = starts.filter { $0.key.hasPrefix("dnp_prefetch_") && $0.value.count > 1 }
                #expect(moved.isEmpty, "\(moved.prefix(2))")
                #expect(starts.contains { $0.key.hasPrefix("dnp_prefetch_scheduled_total") })
            }
        }
    }
}

/// The five families.
enum PageFamilies {
    static let names = [
        "dnp_prefetch_scheduled_total", "dnp_prefetch_executed_total", "dnp_prefetch_success_total",
        "dnp_prefetch_failure_total", "dnp_prefetch_used_for_notification_total",
    ]
}
