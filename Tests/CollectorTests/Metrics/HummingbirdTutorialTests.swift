// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("The tutorial of MetricsRegistry")
    struct HummingbirdTutorialTests {
        private static let root = URL.repository

        @Test("the tutorial shows the lines that run in a test, without a change")
        func sameLines() throws {
            let directory = Self.root.appendingPathComponent("Sources/MetricsRegistry/MetricsRegistry.docc")
            let article = try String(contentsOf: directory.appendingPathComponent("TenLines.md"), encoding: .utf8)
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "TenLines.swift"
            )
            let source = try String(contentsOf: file, encoding: .utf8)
            let licence = "// SPDX-License-Identifier: Apache-2.0\n\n"
            #expect(source.hasPrefix(licence))
            #expect(article.contains("```swift\n\(source.dropFirst(licence.count))```\n"))
        }

        /// Bootstraps swift-metrics, which a process can do once.
        @Test(
            "the tutorial's server counts its requests, and promtool has nothing to say about the page",
            .timeLimit(.minutes(1))
        )
        func served() async throws {
            let port = try await freePort()
            let server = Task { try await application(port: port).run() }
            defer { server.cancel() }
            #expect(try await get("/", port) == "Hello")
            #expect(try await get("/missing", port) == nil)
            let page = try #require(try await get("/metrics", port))
            let dimensions = #"{http_request_method="GET",http_response_status_code="200",http_route="/"}"#
            #expect(page.contains("\nhb_requests_total\(dimensions) 1\n"))
            #expect(page.contains("\nhttp_server_request_duration_seconds_count\(dimensions) 1\n"))
            #expect(page.contains("\nhttp_server_active_requests{http_request_method=\"GET\"} 1\n"))
            #expect(page.contains("\nhb_request_errors_total{error_type=\"404\","))
            #expect(page.contains("\nprocess_cpu_seconds_total "))
            #expect(page.contains("\nswift_info{"))
            #expect(try await promtool(page) == "")
        }

        /// What stands at a path, once the server listens; nil when it answers with an error.
        private func get(_ path: String, _ port: Int) async throws -> String? {
            let deadline = ContinuousClock.now + .seconds(20)
            while true {
                let curl = try await run(
                    ["curl", "-s", "-w", "%{http_code}", "http://127.0.0.1:\(port)\(path)"],
                    input: ""
                )
                if curl.status == 0 {
                    return curl.output.hasSuffix("200") ? String(curl.output.dropLast(3)) : nil
                }
                try #require(ContinuousClock.now < deadline, "the server does not listen")
            }
        }

        private func promtool(_ page: String) async throws -> String {
            let result = try await run(["promtool", "check", "metrics"], input: page)
            return result.status == 0 ? result.output : "status \(result.status): \(result.output)"
        }

        private func freePort() async throws -> Int {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = channel.localAddress?.port
            try await channel.close()
            return try #require(port)
        }

        /// Runs a program on a thread of its own, since the server needs those of the pool.
        private func run(_ arguments: [String], input: String) async throws -> (status: Int32, output: String) {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID())")
            try Data(input.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try Self.finish(arguments, input: file) })
                }
            }
        }

        private static func finish(_ arguments: [String], input: URL) throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
            process.standardInput = try FileHandle(forReadingFrom: input)
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let said = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: said, as: UTF8.self))
        }
    }
}
