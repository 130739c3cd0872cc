// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

extension EndToEnd {
    @Suite("the socket of lines")
    struct LinesSockets {
        /// How many lines have been acknowledged to all clients.
        private final class Acknowledged: Sendable {
            let count = Atomic(0)
        }

        /// Sends lines from the first that is not acknowledged on, until all are; connects again when the service dies.
        private static func deliver(
            _ lines: [String],
            to path: String,
            counting total: Acknowledged = Acknowledged()
        ) async throws -> Int {
            var acknowledged = 0 {
                didSet { total.count.wrappingAdd(acknowledged - oldValue, ordering: .relaxed) }
            }
            var connections = 0
            while acknowledged < lines.count {
                guard let client = try? LinesClient(path: path) else {
                    try await Task.sleep(for: .milliseconds(10))
                    continue
                }
                connections += 1
                var rest = Array(lines[acknowledged...].map { $0 + "\n" }.joined().utf8)[...]
                let start = acknowledged
                while acknowledged < lines.count, client.receive() {
                    acknowledged = start + client.durable
                    let count = client.offer(rest.prefix(16_384))
                    rest = rest.dropFirst(count)
                    try await Task.sleep(for: .milliseconds(count > 0 ? 2 : 1))
                }
                acknowledged = start + client.durable
            }
            return connections
        }

        @Test("40,000 events of four clients through four kills are each counted once", .timeLimit(.minutes(3)))
        func kills() async throws {
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/lines.sock"
                try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                    var expected = LifecycleTotals()
                    var deliveries: [Task<Int, any Error>] = []
                    for name in 0..<4 {
                        let batch = EventFactory(prefix: "client-\(name)").cycles(0..<2_632)
                        expected += batch.totals
                        let text = String(decoding: batch.ndjson, as: UTF8.self)
                        let lines = text.split(separator: "\n").map(String.init)
                        deliveries.append(Task { try await Self.deliver(lines, to: path) })
                    }
                    for round in 1...4 {
                        let client = await service.client
                        try await eventually("some more is stored before kill \(round)") {
                            let stored = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                            return stored >= Double(round * 6_000)
                        }
                        await service.kill()
                        try await service.start()
                    }
                    var connections = 0
                    for delivery in deliveries { connections += try await delivery.value }
                    #expect(connections > 4)
                    let page = try await service.client.metrics()
                    #expect(page.lifecycle == expected.series)
                    #expect(page.sum("dnp_telemetry_events_rejected_total") == 0)
                    #expect(page.ingestBalance == 0)
                }
            }
        }

        @Test("SIGTERM amid four clients: what is acknowledged is stored, and what is sent again counts once")
        func terminations() async throws {
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/lines.sock"
                try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                    var expected = LifecycleTotals()
                    let acknowledged = Acknowledged()
                    var deliveries: [Task<Int, any Error>] = []
                    for name in 0..<4 {
                        let batch = EventFactory(prefix: "stopped-\(name)").cycles(0..<2_000)
                        expected += batch.totals
                        let text = String(decoding: batch.ndjson, as: UTF8.self)
                        let lines = text.split(separator: "\n").map(String.init)
                        deliveries.append(Task { try await Self.deliver(lines, to: path, counting: acknowledged) })
                    }
                    for round in 1...3 {
                        let client = await service.client
                        try await eventually("some more is acknowledged before stop \(round)") {
                            acknowledged.count.load(ordering: .relaxed) >= round * 5_000
                        }
                        #expect(try await service.terminate() == .code(0))
                        let told = acknowledged.count.load(ordering: .relaxed)
                        try await service.start()
                        #expect(try await client.metrics().sum("dnp_telemetry_events_accepted_total") >= Double(told))
                    }
                    var connections = 0
                    for delivery in deliveries { connections += try await delivery.value }
                    #expect(connections > 4)
                    let page = try await service.client.metrics()
                    #expect(page.lifecycle == expected.series)
                    #expect(page.sum("dnp_telemetry_events_rejected_total") == 0)
                    #expect(page.ingestBalance == 0)
                }
            }
        }

        @Test("device logs move the counters as over HTTP", arguments: LogSources.logs)
        func samples(sample: Sample) async throws {
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/lines.sock"
                try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                    let log = Array(try Data(contentsOf: URL(fileURLWithPath: sample.path)))
                    let client = try LinesClient(path: path)
                    var rest = log[...]
                    try await eventually("all is sent") {
                        client.receive()
                        rest = rest.dropFirst(client.offer(rest))
                        return rest.isEmpty
                    }
                    client.finish()
                    try await eventually("the service has answered and closed") { !client.receive() }
                    #expect(client.durable == log.split(separator: 0x0A, omittingEmptySubsequences: false).count - 1)
                    let page = try await service.client.metrics()
                    #expect(page.lifecycle == LifecycleTotals(sample.expected.counters).series)
                    #expect(page.ingestBalance == 0)
                }
            }
        }

        @Test("a client that sends and goes, as socat and nc do, has its lines counted")
        func oneWay() async throws {
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/lines.sock"
                try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                    let batch = EventFactory(prefix: "one-way").cycles(0..<250)
                    var rest = Array(batch.ndjson)[...]
                    let client = try LinesClient(path: path)
                    try await eventually("all is sent") {
                        rest = rest.dropFirst(client.offer(rest))
                        return rest.isEmpty
                    }
                    client.close()
                    let metrics = await service.client
                    try await eventually("all is counted") {
                        try await metrics.metrics().sum("dnp_telemetry_events_accepted_total") == Double(batch.count)
                    }
                }
            }
        }
    }
}
