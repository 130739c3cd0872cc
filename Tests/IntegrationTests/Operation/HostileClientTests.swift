// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

extension Alone {
    /// The service stays ready, and others are served.
    @Suite("hostile clients")
    struct HostileClientTests {
        private let batch = EventFactory(prefix: "hostile").cycles(0..<20)

        private func expectServed(_ service: Service, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let client = await service.client
            #expect(
                try await client.get("/-/ready", within: .seconds(10)).status == 200,
                sourceLocation: sourceLocation
            )
            let receipt = try await client.post(batch.ndjson, within: .seconds(10)).receipt()
            #expect(receipt.accepted + receipt.duplicates == batch.count, sourceLocation: sourceLocation)
            let page = try await client.metrics()
            #expect(page.lifecycle == batch.totals.series, sourceLocation: sourceLocation)
        }

        @Test("clients that drip heads and bodies get 408, and others are served meanwhile")
        func drippingClients() async throws {
            let options = ["--header-timeout", "500ms", "--body-timeout", "500ms", "--idle-timeout", "10s"]
            try await withService(options: options) { service in
                let port = await service.client.port
                let heads = try (0..<50).map { _ in try RawConnection(port: port) }
                let bodies = try (0..<50).map { _ in try RawConnection(port: port) }
                for head in heads { head.send("POST /v1/events HTTP/1.1\r\nX-Slow: ") }
                for body in bodies {
                    body.send(
                        "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
                            + "Content-Length: 100000\r\n\r\n"
                    )
                }
                try await expectServed(service)
                for drop in heads + bodies { drop.send("{") }
                for (kind, clients) in [("header", heads), ("body", bodies)] {
                    for client in clients {
                        let answer = try await client.receive { _ in false }
                        #expect(status(of: answer) == 408 && answer.contains("see --\(kind)-timeout"), "\(answer)")
                    }
                    let told = try await service.client.metrics().value(
                        "dnp_telemetry_http_timeouts_total",
                        ["phase": kind]
                    )
                    #expect(told == 50)
                }
                try await expectServed(service)
                #expect(try await service.client.metrics().sum("dnp_telemetry_events_rejected_total") == 0)
            }
        }

        @Test(
            "clients that drip heads up to the connection limit keep nobody out",
            arguments: ["G", "GET / HTTP/1.1\r\nX-Slow: "]
        )
        func drippingHeadsAtTheLimit(head: String) async throws {
            try await withService(options: ["--max-connections", "50", "--header-timeout", "5m"]) { service in
                let port = await service.client.port
                var drippers: [RawConnection] = []
                // More than the limit, the lobby and the queue hold together.
                for _ in 0..<80 {
                    let dripper = try RawConnection(port: port)
                    drippers.append(dripper)
                    dripper.send("GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(status(of: try await dripper.receive { $0.hasSuffix("ready.\n") }) == 200)
                    dripper.send(head)
                }
                try await expectServed(service)
                try await eventually("some of them give way") { drippers.contains(where: \.isClosed) }
            }
        }

        @Test(
            "1,100 clients that drip bodies keep no scrape and no post out, and soon hold half of all connections at most"
        )
        func drippingBodiesAtTheLimit() async throws {
            try await withService(options: ["--body-timeout", "10m"]) { service in
                let port = await service.client.port
                let drippers = try (0..<1_100).map { _ in try RawConnection(port: port) }
                // Every other one drips chunks.
                let framings = [
                    (header: "Content-Length: 100000", piece: "{"),
                    (header: "Transfer-Encoding: chunked", piece: "1\r\n{\r\n"),
                ]
                let drips = drippers.enumerated().map { (dripper: $1, framing: framings[$0 % 2]) }
                for drip in drips {
                    let fields = "Host: x\r\nContent-Type: application/x-ndjson\r\n\(drip.framing.header)"
                    drip.dripper.send("POST /v1/events HTTP/1.1\r\n\(fields)\r\n\r\n")
                }
                let dripping = Task.detached {
                    while !Task.isCancelled {
                        for drip in drips { drip.dripper.send(drip.framing.piece) }
                        try? await Task.sleep(for: .milliseconds(300))
                    }
                }
                defer { dripping.cancel() }
                try await expectServed(service)
                try await eventually("they hold half of all connections at most") {
                    _ = try await RawConnection(port: port).ask("/-/ready")
                    return drippers.count { !$0.isClosed } <= 512
                }
                try await expectServed(service)
                try await eventually("all were too slow") { drippers.allSatisfy(\.isClosed) }
                let page = try await service.client.metrics()
                #expect(page.value("dnp_telemetry_http_requests_evicted_total", ["phase": "body"]) ?? 0 > 0)
                #expect(page.value("dnp_telemetry_http_timeouts_total", ["phase": "body"]) ?? 0 > 0)
                #expect(page.sum("dnp_telemetry_events_rejected_total") == 0)
            }
        }

        @Test("clients that drip bodies over a Unix socket up to the connection limit keep nobody out")
        func drippingBodiesOverUnixSocket() async throws {
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/http.sock"
                let options = ["--listen", "unix:\(path)", "--max-connections", "50", "--body-timeout", "10m"]
                try await withService(options: options) { service in
                    let drippers = try (0..<60).map { _ in try RawConnection(path: path) }
                    for dripper in drippers { dripper.send(ReloadableSetting.largeBody + "[") }
                    try await expectServed(service)
                    let other = try RawConnection(path: path)
                    #expect(status(of: try await other.ask("/-/ready")) == 200)
                    try await eventually("some of them give way") { drippers.contains(where: \.isClosed) }
                    #expect(drippers.contains { !$0.isClosed })
                }
            }
        }

        @Test("5,000 idle connections keep nobody out, neither at the limit nor below it")
        func idleConnections() async throws {
            for limit in [1_024, 8_000] {
                try await withService(options: ["--max-connections", "\(limit)", "--header-timeout", "5m"]) { service in
                    let port = await service.client.port
                    let clients = try (0..<5_000).map { _ in try RawConnection(port: port) }
                    try await expectServed(service)
                    let client = await service.client
                    if limit > 5_000 {
                        try await eventually("all are accepted") {
                            try await client.metrics().sum("dnp_telemetry_http_connections") > 5_000
                        }
                    } else {
                        #expect(try await client.metrics().sum("dnp_telemetry_http_connections") <= Double(limit))
                    }
                    if limit > 5_000 { #expect(clients.count { $0.isClosed } == 0) }
                    let status = try await service.terminate(within: .seconds(30))
                    let log = await service.log
                    #expect(status == .code(0), "\(status): \(log.suffix(1_000))")
                    withExtendedLifetime(clients) {}
                }
            }
        }

        @Test("a head of 1 MB gets 431")
        func largeHead() async throws {
            try await withService { service in
                let client = try RawConnection(port: await service.client.port)
                client.send(
                    "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Large: \(String(repeating: "x", count: 1 << 20))\r\n\r\n"
                )
                #expect(status(of: try await client.receive { _ in false }) == 431)
                try await expectServed(service)
            }
        }

        @Test("connections beyond the descriptor limit are served as others close, and the service does not spin")
        func descriptorLimit() async throws {
            let wrapper = ["/bin/sh", "-c", "ulimit -n 100; exec \"$@\"", "sh"]
            try await withService(wrapper: wrapper) { service in
                let port = await service.client.port
                let clients = try (0..<200).map { _ in try RawConnection(port: port) }
                try await expectServed(service)
                let open = try await service.client.metrics().sum("dnp_telemetry_http_connections")
                #expect(open < 50)
                let before = try await service.client.metrics().sum("process_cpu_seconds_total")
                try await Task.sleep(for: .seconds(1))
                let spent = try await service.client.metrics().sum("process_cpu_seconds_total") - before
                #expect(spent < 0.5, "\(spent) s of processor time in one second")
                withExtendedLifetime(clients) {}
            }
        }
    }
}
