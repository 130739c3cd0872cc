// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The cases of prometheus/compliance (`remotewrite/sender`), held against all that a running service sends.
@Suite("remote write as its specification wants it of a sender")
struct RemoteWriteSenderTests {
    private typealias Sample = ExportReceiver.Write.Sample

    private static let staleMarker = "7ff0000000000002"

    private func withSender(
        _ mode: String = "200",
        _ attributes: String = "interval=1s",
        _ body: (Service, ExportReceiver) async throws -> Void
    ) async throws {
        try await withExportReceiver { receiver in
            try await receiver.answer(mode)
            let options = ["--export", "remote-write \(receiver.address)/write \(attributes)"]
            try await withService(options: options) { try await body($0, receiver) }
        }
    }

    private func export(_ name: String, _ page: MetricsPage) -> Double {
        page.value("dnp_telemetry_export_\(name)", ["destination": "remote-write", "signal": "remote_write"]) ?? -1
    }

    /// Waits until the receiver's last values of the five families are those of the page.
    private func waitUntilEqual(_ service: Service, _ receiver: ExportReceiver) async throws {
        let client = await service.client
        try await eventually("the receiver has the values of the page", every: .milliseconds(100)) {
            let page = try await client.metrics()
            var last: [MetricsPage.Series: Double] = [:]
            for sample in await receiver.writes.flatMap(\.series) {
                guard let value = sample.value, !value.isNaN else { continue }
                last[.init(name: sample.name, labels: sample.own)] = value
            }
            return PageFamilies.names.allSatisfy { name in
                page.sum(name) > 0 && page.series(name).allSatisfy { last[$0] == page.samples[$0] }
            }
        }
    }

    private func expectWellFormed(_ series: [Sample], _ ledger: String) {
        for sample in series {
            let names = sample.labels.map { $0[0] }
            let isSorted = zip(names, names.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(isSorted, "not sorted, or one twice: \(names)")
            #expect(sample.labels.allSatisfy { !$0[1].isEmpty }, "an empty label: \(sample.labels)")
            #expect(sample.labels.contains(["job", "dnp-telemetry"]))
            #expect(sample.labels.contains(["instance", ledger]))
            #expect(sample.name.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil, "\(sample.name)")
            #expect(names.allSatisfy { $0.wholeMatch(of: /[a-zA-Z_][a-zA-Z0-9_]*/) != nil }, "\(names)")
        }
    }

    /// Each series in the order of its samples.
    private func histories(_ writes: [ExportReceiver.Write]) -> [[[String]]: [Sample]] {
        // A native histogram and a sample may not have one name: the labels tell series apart.
        Dictionary(grouping: writes.flatMap(\.series), by: \.labels)
    }

    @Test("a push has its headers, sorted labels, types, starts and times, and a stop ends each series")
    func pushesAreWellFormed() async throws {
        try await withSender { service, receiver in
            let start = Int64(Date().timeIntervalSince1970 * 1_000)
            let client = await service.client
            let batch = EventFactory(prefix: "sender", hasRuns: true).cycles(0..<30)
            #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)
            try await waitUntilEqual(service, receiver)
            #expect(try await service.terminate() == .code(0))

            for request in await receiver.requests {
                #expect(request.path == "/write")
                #expect(request.headers["Content-Encoding"] == "snappy")
                #expect(
                    request.headers["Content-Type"] == "application/x-protobuf;proto=io.prometheus.write.v2.Request"
                )
                #expect(request.headers["X-Prometheus-Remote-Write-Version"] == "2.0.0")
                #expect(request.headers["User-Agent"]?.wholeMatch(of: /dnp-telemetry\/\S+/) != nil)
            }
            let writes = await receiver.writes
            #expect(writes.allSatisfy { $0.version == 2 && !$0.series.isEmpty && $0.series.count <= 2_000 })
            let ledger = try #require(writes.first?.series.first?.labels.first { $0[0] == "instance" }?[1])
            #expect(ledger.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            let end = Int64(Date().timeIntervalSince1970 * 1_000)
            let histories = histories(writes)
            for (labels, samples) in histories {
                expectWellFormed(Array(samples.prefix(1)), ledger)
                #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time }, "\(labels)")
                #expect(samples.allSatisfy { $0.time > start - 1_000 && $0.time < end + 1_000 })
                #expect(Set(samples.map(\.isHistogram)).count == 1)
                #expect(samples.last?.bits == Self.staleMarker, "it has not ended: \(labels)")
                #expect(samples.dropLast().allSatisfy { $0.bits != Self.staleMarker })
            }
            let first = histories.values.compactMap(\.first)
            for name in PageFamilies.names {
                let counters = first.filter { $0.name == name }
                #expect(!counters.isEmpty && counters.allSatisfy { $0.kind == 1 && $0.start > start - 60_000 })
            }
            let gauges = first.filter { $0.name == "dnp_telemetry_ledger_sequence" }
            #expect(gauges.allSatisfy { $0.kind == 2 && $0.start == 0 } && !gauges.isEmpty)
            let buckets = first.filter { $0.name.hasSuffix("_bucket") && $0.own["le"] == "+Inf" }
            #expect(!buckets.isEmpty && buckets.allSatisfy { $0.kind == 3 && $0.start > 0 })
        }
    }

    @Test(
        "a receiver of 1.0 gets 1.0 from its first answer on, told once and remembered",
        arguments: ["old", "204"]
    )
    func fallsBack(mode: String) async throws {
        try await withSender(mode) { service, receiver in
            let client = await service.client
            _ = try await client.post(EventFactory(prefix: "older").cycles(0..<10).ndjson)
            try await waitUntilEqual(service, receiver)
            try await eventually("it has taken some pushes") { await receiver.writes.count > 3 }
            let versions = await receiver.requests.map { $0.headers["X-Prometheus-Remote-Write-Version"] }
            #expect(versions.first == "2.0.0")
            #expect(versions.dropFirst().allSatisfy { $0 == "0.1.0" })
            let older = await receiver.requests.dropFirst()
            #expect(older.allSatisfy { $0.headers["Content-Type"] == "application/x-protobuf" })
            let writes = await receiver.writes
            #expect(writes.filter { $0.version == 1 }.flatMap(\.series).allSatisfy { !$0.isHistogram })
            let page = try await client.metrics()
            #expect(export("refused_total", page) == 0 && export("retries_total", page) == 0)
            let told = await service.log.components(separatedBy: "gets remote write 1.0 from now on").count - 1
            #expect(told == 1)
        }
    }

    @Test("2.0 alone does not fall back: what a receiver of 1.0 has not taken is counted", arguments: ["old", "204"])
    func fixedVersion(mode: String) async throws {
        try await withSender(mode, "interval=1s version=2") { service, receiver in
            let client = await service.client
            try await eventually("some pushes are refused") {
                export("refused_total", try await client.metrics()) > 1_000
            }
            #expect(await receiver.requests.allSatisfy { $0.headers["X-Prometheus-Remote-Write-Version"] == "2.0.0" })
            #expect(await service.log.contains("leave version= out to fall back to 1.0"))
        }
    }

    @Test(
        "what a receiver cannot take now is sent again as it was, with growing pauses",
        arguments: ["500", "502", "503", "504", "429", "503 Retry-After=1", "silent", "half"]
    )
    func retried(mode: String) async throws {
        // One push in this test, so that a repetition is one of it.
        try await withSender(mode, "interval=1m timeout=1s") { service, receiver in
            let client = await service.client
            try await eventually("it was sent again, and again") { await receiver.requests.count >= 3 }
            try await receiver.answer("200")
            try await eventually("it is taken") { await !receiver.writes.isEmpty }
            let digests = await receiver.requests.map(\.digest)
            #expect(Set(digests.prefix(3)).count == 1)
            try await eventually("all of it is taken") { export("up", try await client.metrics()) == 1 }
            let page = try await client.metrics()
            #expect(export("retries_total", page) >= 2 && export("refused_total", page) == 0)
        }
    }

    @Test("what a receiver refuses is not sent again", arguments: ["400", "401", "403", "404", "413", "302"])
    func refused(mode: String) async throws {
        try await withSender(mode) { service, receiver in
            let client = await service.client
            try await eventually("some pushes are refused") { await receiver.requests.count >= 3 }
            let digests = await receiver.requests.map(\.digest)
            #expect(Set(digests).count == digests.count)
            try await eventually("they are counted") { export("refused_total", try await client.metrics()) > 0 }
            #expect(export("retries_total", try await client.metrics()) == 0)
            #expect(await service.log.contains("HTTP \(mode)"))
        }
    }

    @Test("after kills no counter falls, no start moves, and the sums equal the page at each position")
    func killsMoveNothing() async throws {
        try await withSender { service, receiver in
            for round in 0..<6 {
                let batch = EventFactory(prefix: "kill-\(round)").cycles(0..<(10 + round))
                #expect(try await service.client.post(batch.ndjson).receipt().accepted == batch.count)
                if round % 2 == 0 { try await waitUntilEqual(service, receiver) }
                await service.kill()
                try await service.start()
            }
            try await waitUntilEqual(service, receiver)
            for (labels, samples) in histories(await receiver.writes) {
                guard PageFamilies.names.contains(samples.first?.name ?? "") else { continue }
                let values = samples.compactMap(\.value).filter { !$0.isNaN }
                #expect(zip(values, values.dropFirst()).allSatisfy { $0 <= $1 }, "it falls: \(labels)")
                #expect(Set(samples.map(\.start)).count == 1, "its start moves: \(labels)")
            }
        }
    }
}
