// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("the socket of lines that is handed over")
    struct HandedOverLines {
        private func with(_ body: (Service, _ path: String, _ directory: String) async throws -> Void) async throws {
            try await withTemporaryDirectory { directory in
                let port = try FreePort.any()
                let path = "\(directory)/lines.sock"
                try await withService(
                    listen: "systemd:http",
                    port: port,
                    options: ["--listen", "systemd:lines serve=lines", "--log-level", "info"],
                    wrapper: try SocketUnit.wrapper(["http": "\(port)", "lines": path], in: directory)
                ) { service in
                    try await body(service, path, directory)
                }
            }
        }

        private func send(_ batch: EventBatch, over client: LinesClient) async throws {
            var rest = Array(batch.ndjson)[...]
            try await eventually("all is sent") {
                rest = rest.dropFirst(client.offer(rest))
                return rest.isEmpty
            }
        }

        @Test("lines that are sent while the service is down wait, and are answered after the start; each counts once")
        func overRestarts() async throws {
            try await with { service, path, directory in
                let hold = "\(directory)/hold"
                var totals = LifecycleTotals()
                for round in 1...2 {
                    try Data().write(to: URL(fileURLWithPath: hold))
                    await service.signal(SIGTERM)
                    try await eventually("the service is down") {
                        await service.log.split(separator: "stopped; the ledger is closed").count == round + 1
                    }
                    let batch = EventFactory(prefix: "down-\(round)").cycles(0..<20)
                    let client = try LinesClient(path: path)
                    try await send(batch, over: client)
                    #expect(client.receive() && client.answers == [])
                    try FileManager.default.removeItem(atPath: hold)
                    try await eventually("all is answered") {
                        client.receive()
                        return client.durable == batch.count
                    }
                    totals += batch.totals
                    let again = try LinesClient(path: path)
                    try await send(batch, over: again)
                    try await eventually("all is answered again") {
                        again.receive()
                        return again.durable == batch.count
                    }
                }
                let page = try await service.client.metrics()
                #expect(page.lifecycle == totals.series)
                #expect(page.ingestBalance == 0)
                try Data().write(to: URL(fileURLWithPath: "\(directory)/stop"))
                #expect(try await service.terminate() == .code(0))
            }
        }

        @Test("a listener that the system closes ends the service with an error; lines are answered before")
        func failedListener() async throws {
            try await with { service, path, directory in
                let batch = EventFactory(prefix: "broken").cycles(0..<20)
                let client = try LinesClient(path: path)
                try await send(batch, over: client)
                try await eventually("all is answered") {
                    client.receive()
                    return client.durable == batch.count
                }
                try Data().write(to: URL(fileURLWithPath: "\(directory)/break-http"))
                let status = try await awaited("the service ends") { await service.exitStatus }
                #expect(status == .code(1))
                let log = await service.log
                #expect(
                    log.hasSuffix(
                        "Error: the listener systemd:http was closed by the system; start the service again\n"
                    ),
                    "\(log)"
                )
                #expect(log.contains("stopped; the ledger is closed"))
            }
        }
    }
}
