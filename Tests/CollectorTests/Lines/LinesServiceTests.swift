// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("The socket of lines")
    struct LinesServiceTests {
        /// A socket on a pipeline, which runs until it is stopped.
        final class Running: Sendable {
            let path: String
            let pipeline: Pipeline
            /// The listening sockets.
            let descriptors: [Int32]
            private let told: Told
            private let group: ServiceGroup
            private let running: Task<Void, any Error>

            init(
                _ directory: TemporaryDirectory,
                _ pipeline: Pipeline,
                connections: Int = 64,
                patience: Duration = .seconds(60),
                others: [Listener.Endpoint] = []
            ) throws {
                path = directory.file("lines.sock")
                self.pipeline = pipeline
                let log = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                let sockets = try ListeningSockets.open(
                    ([path, path + "-2"].map { .unix(path: $0, mode: nil, group: nil) } + others).map {
                        Listener($0, services: .lines)
                    }
                )
                descriptors = sockets.map(\.descriptor)
                var configuration = ServeConfiguration(stateDirectory: directory.path)
                configuration.maximumConnections = connections
                let metrics = LinesMetrics(pipeline.registry)
                var options = LogDecoderOptions(isLive: true)
                options.takesAllJSON = true
                let told = Told()
                self.told = told
                let service = LinesService(
                    sockets,
                    writer: pipeline.writer,
                    decoder: LogDecoder(
                        options,
                        pseudonyms: FixedPseudonym(),
                        identityKey: EventText.identityKey
                    ),
                    pseudonyms: FixedPseudonym(),
                    table: ConnectionTable(LiveConfiguration(configuration), metrics.atTheLimit, descriptors: 20_000),
                    patience: patience,
                    anonymous: AnonymousDevice(EventText.identityKey, log),
                    metrics: metrics,
                    log: log
                ) { addresses in told.addresses.withLock { $0 = addresses } }
                let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: log))
                self.group = group
                running = Task { try await group.run() }
            }

            private final class Told: Sendable {
                let addresses = Mutex<[ListeningAddress]>([])
            }

            /// Where it told that it listens; nothing before.
            var addresses: [ListeningAddress] { told.addresses.withLock { $0 } }

            func client() throws -> LinesClient { try LinesClient(path: path) }

            /// Waits for a service that ends by itself.
            func failure() async throws -> any Error {
                let result = await running.result
                try await pipeline.close()
                guard case .failure(let error) = result else {
                    throw Program.Failure(description: "it ended without an error")
                }
                return error
            }

            func end() async throws {
                await group.triggerGracefulShutdown()
                try await running.value
                try await pipeline.close()
            }
        }

        static func lines(_ range: Range<Int>) -> String {
            range.map { EventText.scheduled("cycle-\($0)") + "\n" }.joined()
        }

        private func running(connections: Int = 64, patience: Duration = .seconds(60)) throws -> Running {
            let directory = try TemporaryDirectory()
            return try Running(directory, try Pipeline(in: directory), connections: connections, patience: patience)
        }

        @Test("the line socket answers one line at once, and each count behind what is stored")
        func oneLine() async throws {
            let running = try running()
            let client = try running.client()
            try await client.sendAll(Self.lines(0..<1))
            try await client.waitUntilDurable(1)
            #expect(running.pipeline.page.scheduled == 1)
            try await client.sendAll(Self.lines(1..<3) + Self.lines(0..<1) + "foreign\n")
            try await client.waitUntilDurable(5)
            #expect(running.pipeline.page.scheduled == 3)
            #expect(running.pipeline.page.duplicates == 1)
            #expect(running.pipeline.page[#"dnp_telemetry_events_received_total{source="socket",format="log"}"#] == 4)
            client.finish()
            try await client.waitUntilClosed()
            try await running.end()
        }

        @Test("the line socket takes 50,000 lines in few commits, and of a client that reads none of its answers")
        func manyLines() async throws {
            let running = try running()
            let client = try running.client()
            let bytes = Array(Self.lines(0..<50_000).utf8)
            var rest = bytes[...]
            await waitUntil("all is sent") {
                while !rest.isEmpty {
                    let count = client.offer(rest)
                    if count == 0 { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
            await waitUntil("all is counted") { running.pipeline.page.scheduled == 50_000 }
            try await client.waitUntilDurable(50_000)
            #expect(running.pipeline.writer.statistics.commits < 5_000)
            let counts = client.answers.compactMap { Int($0.dropFirst(3)) }
            #expect(counts == counts.sorted())
            try await running.end()
        }

        @Test("the line socket names refused lines, takes the others, and bytes of any kind end nothing")
        func linesServiceHostile() async throws {
            let running = try running()
            let client = try running.client()
            var random = SplitMix64(8)
            let noise = (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            try await client.sendAll(noise + [0x0A])
            let count = noise.filter { $0 == 0x0A }.count + 1
            try await client.waitUntilDurable(count)
            let old = #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2019-01-01T00:00:00Z"}"#
            let long = #"{"event":"prefetch_scheduled","reason":""# + String(repeating: "x", count: 1 << 20) + "\"}"
            try await client.sendAll(Self.lines(0..<1) + old + "\n" + long + "\n" + Self.lines(1..<2))
            try await client.waitUntilDurable(count + 4)
            let ofNoise = client.rejected.prefix { Int($0.split(separator: " ")[1]) ?? 0 <= count }
            #expect(
                client.rejected.dropFirst(ofNoise.count) == [
                    "rejected \(count + 2) timestamp_too_old \(Rejection(index: 0, reason: .timestampTooOld, field: .timestamp))",
                    "rejected \(count + 3) too_long \(Rejection(index: 0, reason: .tooLong))",
                ]
            )
            #expect(running.pipeline.page.scheduled == 2)
            #expect(running.pipeline.page.rejected >= 2)
            try await running.end()
        }

        @Test("the line socket takes arrays and envelopes, and names each line of JSON that holds no event")
        func lists() async throws {
            let running = try running()
            let client = try running.client()
            let events = (0..<4).map { EventText.scheduled("cycle-\($0)") }
            try await client.sendAll(
                "[\(events[0]),\(events[1])]\n{\"events\":[\(events[2])]}\n{\"event\":\"prefetch_sch\n"
                    + "{\"scheduleId\":\"a\"}\n\(events[3])\nforeign {}\n"
            )
            try await client.waitUntilDurable(6)
            #expect(
                client.rejected.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
                    == ["rejected 3 truncated", "rejected 4 missing_field"]
            )
            #expect(running.pipeline.page.scheduled == 4)
            #expect(running.pipeline.page.rejected == 2 && running.pipeline.page.received == 6)
            #expect(running.pipeline.page[#"dnp_telemetry_log_lines_total{result="unrecognised"}"#] == 2)
            #expect(running.pipeline.page[#"dnp_telemetry_log_lines_total{result="foreign"}"#] == 1)
            try await running.end()
        }

        @Test("the line socket takes the rest of a client that sends nothing more, answers and closes")
        func halfClose() async throws {
            let running = try running()
            let client = try running.client()
            try await client.sendAll(Self.lines(0..<2) + EventText.scheduled("last"))
            client.finish()
            try await client.waitUntilClosed()
            #expect(client.durable == 3)
            #expect(running.pipeline.page.scheduled == 3)
            try await running.end()
        }

        @Test("the line socket takes all whole lines of a client that has gone, and no half one")
        func gone() async throws {
            let running = try running()
            for round in 0..<20 {
                let client = try running.client()
                try await client.sendAll(
                    Self.lines(round * 100..<(round + 1) * 100) + #"{"event":"prefetch_scheduled","#
                )
                client.close()
            }
            await waitUntil("the whole lines are counted") { running.pipeline.page.scheduled == 2_000 }
            await waitUntil("all are gone") { running.pipeline.page["dnp_telemetry_lines_open_connections"] == 0 }
            #expect(running.pipeline.page.rejected == 0)
            #expect(running.pipeline.page[#"dnp_telemetry_log_lines_total{result="recognised"}"#] == 2_000)
            #expect(running.pipeline.page[#"dnp_telemetry_log_lines_total{result="unrecognised"}"#] == 0)
            try await running.end()
        }

        @Test("the line socket serves many clients side by side, and further ones when others end")
        func manyClients() async throws {
            let running = try running(connections: 20)
            for round in 0..<3 {
                let clients = try (0..<20).map { _ in try running.client() }
                for (index, client) in clients.enumerated() {
                    let first = (round * 20 + index) * 10
                    try await client.sendAll(Self.lines(first..<first + 10))
                }
                for client in clients { try await client.waitUntilDurable(10) }
                #expect(running.pipeline.page["dnp_telemetry_lines_open_connections"] ?? 0 <= 20)
                for client in clients { client.close() }
                // Before the service has seen them end, they still count, and a further one may be refused.
                await waitUntil("all are gone") { running.pipeline.page["dnp_telemetry_lines_open_connections"] == 0 }
            }
            #expect(running.pipeline.page.scheduled == 600)
            try await running.end()
        }

        @Test("the line socket tells where it listens once it accepts, on every socket")
        func listening() async throws {
            let running = try running()
            await waitUntil("it tells where") { !running.addresses.isEmpty }
            let places = running.addresses.map(\.place)
            #expect(places == [.unix(path: running.path), .unix(path: running.path + "-2")])
            #expect(running.addresses.allSatisfy { $0.services == .lines })
            let client = try LinesClient(path: running.path + "-2")
            try await client.sendAll(Self.lines(0..<1))
            try await client.waitUntilDurable(1)
            try await running.end()
        }

        @Test(
            "the line socket ends with an error when the system closes one of its listeners; the clients of the other have their answers"
        )
        func failedListener() async throws {
            let directory = try TemporaryDirectory()
            // A socket of the Internet tells when it listens no longer.
            let other = Listener.Endpoint.address(host: "127.0.0.1", port: 0)
            let running = try Running(directory, try Pipeline(in: directory), others: [other])
            let client = try running.client()
            try await client.sendAll(Self.lines(0..<10))
            try await client.waitUntilDurable(10)
            shutdown(running.descriptors[2], CInt(SHUT_RDWR))
            let failure = try await running.failure()
            #expect("\(failure)" == "the listener 127.0.0.1:0 was closed by the system; start the service again")
            try await client.waitUntilClosed()
            #expect(!FileManager.default.fileExists(atPath: running.path))
        }

        @Test(
            "the line socket closes the connection of a client that is refused much and takes no answers; others are served"
        )
        func stalled() async throws {
            let running = try running(patience: .milliseconds(200))
            let client = try running.client()
            let refused = Array(String(repeating: #"{"event":"nothing"}"# + "\n", count: 1_000).utf8)
            await waitUntil("the client is cut off") {
                _ = client.offer(refused[...])
                return running.pipeline.page["dnp_telemetry_lines_stalled_total"] == 1
            }
            let other = try running.client()
            try await other.sendAll(Self.lines(0..<1))
            try await other.waitUntilDurable(1)
            try await running.end()
        }

        @Test("the line socket answers what waits for its cycle after silence")
        func linesServiceSilence() async throws {
            let running = try running()
            let client = try running.client()
            try await client.sendAll("[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)\n")
            try await client.waitUntilDurable(1)
            #expect(running.pipeline.page["dnp_prefetch_executed_total"] == 1)
            try await running.end()
        }

        @Test("the line socket stops with its clients connected, and acknowledges nothing that is not stored")
        func linesServiceStopping() async throws {
            let directory = try TemporaryDirectory()
            let running = try Running(directory, try Pipeline(in: directory))
            let clients = try (0..<8).map { _ in try running.client() }
            for (index, client) in clients.enumerated() {
                var rest = Array(Self.lines(index * 10_000..<(index + 1) * 10_000).utf8)[...]
                while case let count = client.offer(rest), count > 0 { rest = rest.dropFirst(count) }
            }
            try await running.end()
            var durable = 0
            for client in clients {
                try await client.waitUntilClosed()
                durable += client.durable
            }
            #expect(!FileManager.default.fileExists(atPath: running.path))
            let pipeline = try Pipeline(in: directory)
            #expect(pipeline.page.scheduled ?? 0 >= durable)
            try await pipeline.close()
        }

        @Test("the line socket closes each connection that is accepted while it stops")
        func acceptedWhileStopping() async throws {
            for _ in 0..<20 {
                let directory = try TemporaryDirectory()
                let running = try Running(directory, try Pipeline(in: directory))
                await waitUntil("it accepts") { !running.addresses.isEmpty }
                let clients = try (0..<16).map { _ in try running.client() }
                try await running.end()
                for client in clients { try await client.waitUntilClosed() }
            }
        }

        @Test("the line socket acknowledges nothing while the disk is full, and goes on by itself")
        func linesServiceFullDisk() async throws {
            let disk = try SmallDisk()
            let sockets = try TemporaryDirectory()
            let running = try Running(sockets, try Pipeline(in: disk.directory))
            let client = try running.client()
            try await client.sendAll(Self.lines(0..<10))
            try await client.waitUntilDurable(10)
            let filler = disk.directory.file("filler")
            try Files.write([UInt8](repeating: 1, count: 420_000), to: filler)
            let bytes = Array(Self.lines(10..<6_000).utf8)
            var rest = bytes[...]
            await waitUntil("the disk is full") {
                rest = rest.dropFirst(client.offer(rest))
                return running.pipeline.writer.statistics.failedGroups > 0
            }
            client.receive()
            #expect(client.durable == running.pipeline.page.scheduled)
            try FileManager.default.removeItem(atPath: filler)
            try Program.run("/bin/mount", ["-o", "remount,size=16m", disk.directory.path])
            try await client.sendAll(Array(rest))
            try await client.waitUntilDurable(6_000)
            #expect(running.pipeline.page.scheduled == 6_000)
            try await running.end()
        }
    }
}
