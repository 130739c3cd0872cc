// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A receiver of OTLP in a process of its own, which reads with the official definitions; it can be killed at any moment.
actor ExportReceiver {
    /// A log record as it was received.
    struct Record: Decodable, Equatable {
        let identity: String
        let event: String
        let body: String
        let time: UInt64
        let observed: UInt64
        let severity: Int
    }

    struct Request: Decodable {
        let path: String
        let size: Int
        let mode: [String]
        let headers: [String: String]
    }

    nonisolated let port: Int
    private let directory: String
    private var process: ChildProcess?
    private var starts = 0

    /// - Parameter directory: keeps what it gets, over restarts.
    init(_ directory: String) throws {
        self.directory = directory
        port = try FreePort.any()
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("200".utf8).write(to: URL(fileURLWithPath: "\(directory)/mode"))
    }

    /// Starts it and waits until it listens.
    func start() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        starts += 1
        let process = try ChildProcess(
            ["\(root)/.build-python/bin/python3", "\(root)/Tests/Parsers/receive_export.py", "\(port)", directory],
            logs: directory,
            name: "receiver-\(starts)"
        )
        self.process = process
        try await eventually("the receiver listens: \(process.errorText)") {
            (try? await TelemetryClient(port: port).get("/", within: .seconds(5))) != nil
        }
    }

    /// SIGKILL.
    func kill() async {
        await process?.killAndWait()
    }

    /// Sets how requests are answered from now on.
    func answer(_ mode: String) throws {
        try Data(mode.utf8).write(to: URL(fileURLWithPath: "\(directory)/mode"), options: .atomic)
    }

    var address: String { "http://127.0.0.1:\(port)" }

    /// The log records that it took, repeats included; a line that a kill cut is left out.
    var records: [Record] { lines("logs") }

    /// How much it has written of the records that it took.
    var takenBytes: UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/logs")
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    var requests: [Request] { lines("requests") }

    /// The start times of each series over all requests, by the series' name and its labels.
    var seriesStarts: [String: Set<UInt64>] {
        var starts: [String: Set<UInt64>] = [:]
        for line in text(of: "\(directory)/starts").split(separator: "\n") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let start = object["start"] as? NSNumber, let series = object["series"] as? [Any],
                let name = series.first as? String
            else { continue }
            starts["\(name) \(series.dropFirst())", default: []].insert(start.uint64Value)
        }
        return starts
    }

    /// The counters of the last request of metrics, by their name; series are added up.
    var sums: [String: Double] {
        guard let data = FileManager.default.contents(atPath: "\(directory)/metrics"),
            let request = try? JSONDecoder().decode(MetricsRequest.self, from: data)
        else { return [:] }
        var sums: [String: Double] = [:]
        for metric in request.resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics) {
            for point in metric.sum?.dataPoints ?? [] { sums[metric.name, default: 0] += point.asDouble ?? 0 }
        }
        return sums
    }

    private struct MetricsRequest: Decodable {
        struct Resource: Decodable { let scopeMetrics: [Scope] }
        struct Scope: Decodable { let metrics: [Metric] }
        struct Metric: Decodable {
            let name: String
            let sum: Sum?
        }
        struct Sum: Decodable { let dataPoints: [Point] }
        struct Point: Decodable { let asDouble: Double? }
        let resourceMetrics: [Resource]
    }

    private func lines<Line: Decodable>(_ name: String) -> [Line] {
        text(of: "\(directory)/\(name)").split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }
}

/// Runs a receiver from its start to its end.
func withExportReceiver<Value>(_ body: (ExportReceiver) async throws -> Value) async throws -> Value {
    try await withTemporaryDirectory { directory in
        let receiver = try ExportReceiver(directory)
        try await receiver.start()
        do {
            let value = try await body(receiver)
            await receiver.kill()
            return value
        } catch {
            await receiver.kill()
            throw error
        }
    }
}
