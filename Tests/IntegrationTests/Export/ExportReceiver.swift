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

    /// A request of remote write.
    struct Write: Decodable {
        struct Sample: Decodable {
            /// Pairs of name and value, in their order.
            let labels: [[String]]
            /// The value as 64 bits in hexadecimal.
            let bits: String
            /// Of a native histogram the sum.
            let isHistogram: Bool
            let time: Int64
            /// 0 where none is told.
            let start: Int64
            /// The type in the metadata of 2.0.
            let kind: Int

            /// Nil for a native histogram.
            var value: Double? { isHistogram ? nil : UInt64(bits, radix: 16).map(Double.init(bitPattern:)) }
            var name: String { labels.first { $0.first == "__name__" }?.last ?? "" }
            /// The labels without name and target.
            var own: [String: String] {
                Dictionary(labels.map { ($0.first ?? "", $0.last ?? "") }) { _, last in last }
                    .filter { !["__name__", "job", "instance"].contains($0.key) }
            }
        }

        let version: Int
        let series: [Sample]
    }

    struct Request: Decodable {
        let path: String
        let size: Int
        let digest: String
        let mode: [String]
        let headers: [String: String]
    }

    nonisolated let port: Int
    private let directory: String
    private let authority: CertificateAuthority?
    private var process: ChildProcess?
    private var starts = 0

    /// - Parameters:
    ///   - directory: keeps what it gets, over restarts.
    ///   - authority: with one it speaks TLS, and wants a certificate of that authority from its clients.
    init(_ directory: String, _ authority: CertificateAuthority? = nil) throws {
        self.directory = directory
        self.authority = authority
        port = try FreePort.any()
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("200".utf8).write(to: URL(fileURLWithPath: "\(directory)/mode"))
    }

    /// Starts it and waits until it listens.
    func start() async throws {
        starts += 1
        let tls = authority.map { [$0.file("server.pem"), $0.file("server.key"), $0.file("ca.pem")] } ?? []
        process = try await PythonServer.start(
            "receive_export.py",
            ["\(port)", directory] + tls,
            logs: directory,
            name: "receiver-\(starts)"
        )
    }

    /// SIGKILL.
    func kill() async {
        await process?.killAndWait()
    }

    /// Sets how requests are answered from now on.
    func answer(_ mode: String) throws {
        try Data(mode.utf8).write(to: URL(fileURLWithPath: "\(directory)/mode"), options: .atomic)
    }

    nonisolated var address: String {
        authority == nil ? "http://127.0.0.1:\(port)" : "https://localhost:\(port)"
    }

    /// The log records that it took, repeats included; a line that a kill cut is left out.
    var records: [Record] { lines("logs") }

    /// How much it has written of the records that it took.
    var takenBytes: UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/logs")
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    var requests: [Request] { lines("requests") }

    /// The requests of remote write that it took.
    var writes: [Write] { lines("writes") }

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

/// A program of `Tests/Parsers` that prints when it listens.
enum PythonServer {
    static func start(
        _ program: String,
        _ arguments: [String],
        logs: String,
        name: String
    ) async throws -> ChildProcess {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let process = try ChildProcess(
            ["\(root)/.build-python/bin/python3", "\(root)/Tests/Parsers/\(program)"] + arguments,
            logs: logs,
            name: name
        )
        try await eventually("\(program) listens: \(process.errorText)") { !process.output.isEmpty }
        return process
    }
}

/// Runs a receiver from its start to its end.
///
/// - Parameter authority: with one it speaks TLS, and wants a certificate of that authority from its clients.
func withExportReceiver<Value>(
    _ authority: CertificateAuthority? = nil,
    _ body: (ExportReceiver) async throws -> Value
) async throws -> Value {
    try await withTemporaryDirectory { directory in
        let receiver = try ExportReceiver(directory, authority)
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
