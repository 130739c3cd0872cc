// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A real Prometheus that scrapes one service every second.
package struct Prometheus {
    /// One element of an instant vector.
    package struct Element: Equatable {
        package let labels: [String: String]
        package let value: Double
    }

    /// One exemplar as the storage has it.
    package struct Exemplar: Equatable {
        package let series: [String: String]
        package let labels: [String: String]
        package let value: Double
        package let timestamp: Double
    }

    private struct Reply: Decodable {
        struct Result: Decodable {
            let metric: [String: String]
            let value: Sample
        }
        struct Vector: Decodable { let result: [Result] }
        struct Sample: Decodable {
            let value: Double
            init(from decoder: any Decoder) throws {
                var pair = try decoder.unkeyedContainer()
                _ = try pair.decode(Double.self)
                value = Double(try pair.decode(String.self)) ?? .nan
            }
        }
        let data: Vector
    }

    private let client: TelemetryClient

    /// - Parameters:
    ///   - features: what is to be enabled (`--enable-feature`).
    ///   - access: more of the job's configuration, one line of YAML each.
    package static func with<Value>(
        scraping port: Int,
        features: [String] = [],
        access: [String] = [],
        _ body: (Prometheus) async throws -> Value
    ) async throws -> Value {
        try MissingDependency.require(executable: "/usr/bin/prometheus", package: "prometheus")
        return try await withTemporaryDirectory { directory in
            let configuration = """
                global: {scrape_interval: 1s, scrape_timeout: 1s}
                scrape_configs:
                - job_name: dnp
                  static_configs: [{targets: ["127.0.0.1:\(port)"]}]
                """ + access.map { "\n  \($0)" }.joined()
            try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(directory)/prometheus.yml"))
            let own = try FreePort.any()
            let process = try ChildProcess(
                [
                    "/usr/bin/prometheus", "--config.file=\(directory)/prometheus.yml",
                    "--storage.tsdb.path=\(directory)/data", "--web.listen-address=127.0.0.1:\(own)",
                ] + (features.isEmpty ? [] : ["--enable-feature=\(features.joined(separator: ","))"]),
                logs: directory,
                name: "prometheus"
            )
            let prometheus = Prometheus(client: TelemetryClient(port: own))
            do {
                try await eventually("Prometheus is ready: \(process.errorText)") {
                    (try? await prometheus.client.get("/-/ready", within: .seconds(5)))?.status == 200
                }
                let value = try await body(prometheus)
                await process.killAndWait()
                return value
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }

    /// An instant query that gives numbers; the expression has nothing that is to be escaped in an address.
    package func query(_ expression: String) async throws -> [Element] {
        let answer = try await client.get("/api/v1/query?query=\(expression)")
        guard answer.status == 200 else { throw Answer.Unexpected(answer) }
        return try JSONDecoder().decode(Reply.self, from: Data(answer.body)).data.result.map {
            Element(labels: $0.metric, value: $0.value.value)
        }
    }

    /// The exemplars of every series of one name in the last hour.
    package func exemplars(_ name: String) async throws -> [Exemplar] {
        struct Series: Decodable {
            let seriesLabels: [String: String]
            let exemplars: [Found]
        }
        struct Found: Decodable {
            let labels: [String: String]
            let value: String
            let timestamp: Double
        }
        struct Reply: Decodable { let data: [Series] }
        let now = Int(Date().timeIntervalSince1970)
        let answer = try await client.get("/api/v1/query_exemplars?query=\(name)&start=\(now - 3_600)&end=\(now + 60)")
        guard answer.status == 200 else { throw Answer.Unexpected(answer) }
        return try JSONDecoder().decode(Reply.self, from: Data(answer.body)).data.flatMap { series in
            series.exemplars.map {
                Exemplar(
                    series: series.seriesLabels,
                    labels: $0.labels,
                    value: Double($0.value) ?? .nan,
                    timestamp: $0.timestamp
                )
            }
        }
    }

    /// What a target's metadata says of a family's type.
    package func type(of family: String) async throws -> String? {
        struct Metadata: Decodable { let type: String }
        struct Reply: Decodable { let data: [String: [Metadata]] }
        let answer = try await client.get("/api/v1/metadata?metric=\(family)")
        guard answer.status == 200 else { throw Answer.Unexpected(answer) }
        return try JSONDecoder().decode(Reply.self, from: Data(answer.body)).data[family]?.first?.type
    }

    /// A histogram of days, whose name has its unit: promtool would have seconds.
    private static let unitInName =
        #"aiq_background_refresh_days_since_test use base unit "seconds" instead of "days""#[...]

    /// What `promtool check metrics` says about a page: nothing, if all is well.
    package static func lint(_ page: String) async throws -> String {
        try MissingDependency.require(executable: "/usr/bin/promtool", package: "prometheus")
        let check = try await Command.run(["/usr/bin/promtool", "check", "metrics"], input: page)
        let complaints = (check.text + check.error).split(separator: "\n", omittingEmptySubsequences: false)
        let words = complaints.filter { $0 != Self.unitInName }.joined(separator: "\n")
        if words.isEmpty, complaints.contains(Self.unitInName) { return "" }
        return check.status == .code(0) ? words : "\(check.status): \(words)"
    }
}
