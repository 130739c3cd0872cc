// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A real system that takes remote write, on a data directory that outlives a kill.
private actor RemoteWriteReceiver {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case prometheus = "Prometheus"
        case victoriaMetrics = "VictoriaMetrics"
        case influx = "InfluxDB"

        nonisolated var testDescription: String { rawValue }

        fileprivate var program: (path: String, package: String) {
            switch self {
            case .prometheus: ("/usr/bin/prometheus", "prometheus")
            case .victoriaMetrics: ("/usr/bin/victoria-metrics", "victoria-metrics")
            case .influx: ("/usr/bin/influxd", "influxdb")
            }
        }

        fileprivate var path: String {
            self == .influx ? "/api/v1/prom/write?db=dnp" : "/api/v1/write"
        }

        fileprivate var health: String {
            switch self {
            case .prometheus: "/-/ready"
            case .victoriaMetrics: "/health"
            case .influx: "/ping"
            }
        }
    }

    nonisolated let kind: Kind
    nonisolated let port: Int
    private let directory: String
    private var process: ChildProcess?
    private var starts = 0

    init(_ kind: Kind, _ directory: String) throws {
        try MissingDependency.require(executable: kind.program.path, package: kind.program.package)
        self.kind = kind
        self.directory = directory
        port = try FreePort.any()
    }

    nonisolated var client: TelemetryClient { TelemetryClient(port: port) }
    nonisolated var address: String { "http://127.0.0.1:\(port)\(kind.path)" }

    func start() async throws {
        starts += 1
        let process = try ChildProcess([kind.program.path] + arguments(), logs: directory, name: "receiver-\(starts)")
        self.process = process
        try await eventually("\(kind.rawValue) is ready: \(process.errorText.suffix(500))", within: .seconds(60)) {
            let status = (try? await client.get(kind.health, within: .seconds(5)))?.status
            return status == 200 || status == 204
        }
        if kind == .influx {
            _ = try await client.post([], type: nil, to: "/query?q=CREATE%20DATABASE%20dnp")
        }
    }

    private func arguments() throws -> [String] {
        switch kind {
        case .prometheus:
            let file = "\(directory)/prometheus.yml"
            try Data("global: {scrape_interval: 1m}\n".utf8).write(to: URL(fileURLWithPath: file))
            return [
                "--config.file=\(file)", "--storage.tsdb.path=\(directory)/data", "--web.enable-remote-write-receiver",
                "--web.listen-address=127.0.0.1:\(port)", "--enable-feature=exemplar-storage,native-histograms",
            ]
        case .victoriaMetrics:
            return [
                "-storageDataPath=\(directory)/data", "-httpListenAddr=127.0.0.1:\(port)", "-retentionPeriod=100y",
                "-search.latencyOffset=0s",
            ]
        case .influx:
            let file = "\(directory)/influxdb.conf"
            let text = """
                reporting-disabled = true
                bind-address = "127.0.0.1:\(try FreePort.any())"
                [meta]
                dir = "\(directory)/meta"
                [data]
                dir = "\(directory)/data"
                wal-dir = "\(directory)/wal"
                [http]
                bind-address = "127.0.0.1:\(port)"
                log-enabled = false
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return ["-config", file]
        }
    }

    func kill() async {
        await process?.killAndWait()
    }

    /// The last value of each series of a family, by its labels without those of the target.
    func last(_ family: String) async throws -> [[String: String]: Double] {
        kind == .influx ? try await lastOfInflux(family) : try await lastOfPrometheus(family)
    }

    private func lastOfPrometheus(_ family: String) async throws -> [[String: String]: Double] {
        struct Text: Decodable {
            let text: String
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                text = try (try? container.decode(String.self)) ?? "\(container.decode(Double.self))"
            }
        }
        // The last sample of the last minutes also where a stop has ended the series.
        let answer = try await client.get("/api/v1/query?query=last_over_time(\(family)%5B5m%5D)")
        guard answer.status == 200 else { throw Answer.Unexpected(answer) }
        struct Whole: Decodable {
            struct Vector: Decodable { let result: [Series] }
            struct Series: Decodable {
                let metric: [String: String]
                let value: [Text]
            }
            let data: Vector
        }
        var found: [[String: String]: Double] = [:]
        for series in try JSONDecoder().decode(Whole.self, from: Data(answer.body)).data.result {
            found[Self.own(series.metric)] = series.value.last.flatMap { Double($0.text) }
        }
        return found
    }

    private func lastOfInflux(_ family: String) async throws -> [[String: String]: Double] {
        struct Reply: Decodable {
            struct Result: Decodable { let series: [Series]? }
            struct Series: Decodable {
                let tags: [String: String]?
                let values: [[Cell]]
            }
            struct Cell: Decodable {
                let number: Double?
                init(from decoder: any Decoder) throws {
                    number = try? decoder.singleValueContainer().decode(Double.self)
                }
            }
            let results: [Result]
        }
        let query = "SELECT%20last(value)%20FROM%20%22\(family)%22%20GROUP%20BY%20*"
        let answer = try await client.get("/query?db=dnp&q=\(query)")
        guard answer.status == 200 else { throw Answer.Unexpected(answer) }
        var found: [[String: String]: Double] = [:]
        let reply = try JSONDecoder().decode(Reply.self, from: Data(answer.body))
        for series in reply.results.flatMap({ $0.series ?? [] }) {
            found[Self.own(series.tags ?? [:])] = series.values.first?.last?.number
        }
        return found
    }

    private static func own(_ labels: [String: String]) -> [String: String] {
        labels.filter { !["__name__", "job", "instance", "db"].contains($0.key) && !$0.value.isEmpty }
    }
}

@Suite("export by remote write to real receivers")
struct RemoteWriteReceiverTests {
    @Test(
        "the five families read back equal to the page after kill -9 of service and receiver",
        .timeLimit(.minutes(4)),
        arguments: RemoteWriteReceiver.Kind.allCases
    )
    fileprivate func familiesReadBack(kind: RemoteWriteReceiver.Kind) async throws {
        try await withTemporaryDirectory { directory in
            let receiver = try RemoteWriteReceiver(kind, directory)
            try await receiver.start()
            do {
                try await withService(options: ["--export", "remote-write \(receiver.address) interval=1s"]) {
                    service in
                    try await run(service, receiver)
                }
            } catch {
                await receiver.kill()
                throw error
            }
            await receiver.kill()
        }
    }

    private func run(_ service: Service, _ receiver: RemoteWriteReceiver) async throws {
        let client = await service.client
        for round in 0..<3 {
            let batch = EventFactory(prefix: "remote-\(round)").cycles(0..<(60 + round))
            #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)
            try await expectEqual(client, receiver)
            await service.kill()
            if round > 0 { await receiver.kill() }
            try await service.start()
            // Pushes fail here, and go on when it is back.
            if round > 0 { try await receiver.start() }
        }
        try await expectEqual(client, receiver)
        let labels = ["destination": "remote-write", "signal": "remote_write"]
        try await eventually("the service that started last has sent its page, too") {
            try await client.metrics().value("dnp_telemetry_export_sent_total", labels) ?? 0 > 100
        }
        #expect(try await client.metrics().value("dnp_telemetry_export_refused_total", labels) == 0)
    }

    private func expectEqual(_ client: TelemetryClient, _ receiver: RemoteWriteReceiver) async throws {
        var difference = ""
        do {
            try await eventually(
                "the receiver has the values of the page",
                within: .seconds(60),
                every: .milliseconds(200)
            ) {
                let page = try await client.metrics()
                for family in PageFamilies.names {
                    let wanted = Dictionary(
                        page.series(family).map { ($0.labels, page.samples[$0] ?? -1) }
                    ) { first, _ in first }
                    let found = try await receiver.last(family)
                    guard found == wanted else {
                        difference = "\(family): \(wanted) on the page, \(found) at the receiver"
                        return false
                    }
                }
                return true
            }
        } catch {
            Issue.record("\(difference)")
            throw error
        }
    }
}
