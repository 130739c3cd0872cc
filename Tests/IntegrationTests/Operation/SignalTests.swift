// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("a signal before the service is ready")
struct EarlySignalTests {
    /// A service with stored events that was killed, restarted, and is stopped (SIGSTOP) during recovery.
    private func withHeldStart(
        options: [String] = [],
        _ body: (Service, NotifiedManager, LifecycleTotals) async throws -> Void
    ) async throws {
        let manager = try NotifiedManager()
        try await withService(options: options) { service in
            let client = await service.client
            var totals = LifecycleTotals()
            for number in 0..<30 {
                let batch = EventFactory(prefix: "early-\(number)").cycles(0..<1_500)
                _ = try await client.post(batch.ndjson).receipt()
                totals += batch.totals
            }
            await service.kill()
            await service.run(under: manager)
            let process = try await service.launch()
            try await eventually("it recovers", every: .milliseconds(1)) {
                manager.values("STATUS").contains { $0.hasPrefix("recovering") }
            }
            await process.signal(SIGSTOP)
            let state = "/proc/\(await process.identifier)/stat"
            try await eventually("it is held") { text(of: state).contains(") T ") }
            try #require(manager.values("READY") == [], "it is not ready yet")
            try await body(service, manager, totals)
        }
    }

    @Test("SIGHUP during the start is kept, and the configuration reloaded once the service is ready")
    func earlyHangUp() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/config.yml"
            func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
            try write("max-body: 4MiB\n")
            try await withHeldStart(options: ["--config", file]) { service, _, totals in
                try write("max-body: 10\n")
                await service.signal(SIGHUP)
                await service.signal(SIGCONT)
                try await service.waitUntilReady()
                let client = await service.client
                try await eventually("the new limit holds") {
                    try await client.post(Array(#"{"event":"plugin_started"}"#.utf8)).status == 413
                }
                #expect(try await client.metrics().lifecycle == totals.series)
                #expect(await service.log.contains("changed=max-body"))
            }
        }
    }

    @Test(
        "SIGTERM during the start ends it with 0 and removes its socket; the next start recovers",
        arguments: [SIGTERM, SIGINT]
    )
    func earlyTermination(number: Int32) async throws {
        try await withTemporaryDirectory { directory in
            let socket = "\(directory)/http.sock"
            try await withHeldStart(options: ["--listen", "unix:\(socket)"]) { service, manager, totals in
                #expect(FileManager.default.fileExists(atPath: socket))
                await service.signal(number)
                await service.signal(SIGCONT)
                #expect(try await service.end() == .code(0))
                #expect(manager.values("READY") == [])
                #expect(!FileManager.default.fileExists(atPath: socket))
                #expect(await service.log.contains("stopped before it was ready"))
                try await service.start()
                #expect(try await service.client.metrics().lifecycle == totals.series)
            }
        }
    }
}

extension InPairs {
    @Suite("termination")
    struct TerminationTests {
        @Test("SIGTERM under load ends with 0 within 10 s and loses nothing that was acknowledged")
        func terminationUnderLoad() async throws {
            try await withService { service in
                let client = await service.client
                let stop = StopSignal()
                async let first = Sender(client: client, name: "term-a", usesKeys: true, seed: 11).run(until: stop)
                async let second = Sender(client: client, name: "term-b", seed: 12).run(until: stop)
                async let third = Sender(client: client, name: "term-c", givesUp: true, seed: 13).run(until: stop)
                for round in 1...3 {
                    let before = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                    try await eventually("the load of round \(round) arrives") {
                        try await client.metrics().sum("dnp_telemetry_events_accepted_total") >= before + 300
                    }
                    #expect(try await service.terminate(within: .seconds(10)) == .code(0))
                    try await service.start()
                }
                stop.set()
                let delivery = try await first + second + third
                let page = try await client.metrics()
                expectCounted(delivery, on: page)
                #expect(page.ingestBalance == 0)
            }
        }

        @Test("SIGTERM ends within 10 s although journald hangs, and pending entries are written after the next start")
        func terminationJournaldHangs() async throws {
            let batch = EventFactory(prefix: "hang").cycles(0..<1_000)
            try await TestJournald.with { journal in
                try await withService(journal: .journald, in: journal.namespace) { service in
                    await journal.suspend()
                    do {
                        _ = try await service.client.post(batch.ndjson).receipt()
                        #expect(try await service.terminate(within: .seconds(10)) == .code(0))
                    } catch {
                        await journal.resume()
                        throw error
                    }
                    await journal.resume()
                    try await service.start()
                    try await waitUntilJournaled(service)
                    #expect(try await service.client.metrics().lifecycle == batch.totals.series)
                    try await expectExactlyOnce(batch.identities, in: journal)
                }
            }
        }

        @Test("SIGTERM at rest ends at once, also with an open connection")
        func terminationAtRest() async throws {
            try await withService { service in
                _ = try await service.client.metrics()
                #expect(try await service.terminate(within: .seconds(10)) == .code(0))
                let state = await service.settings.stateDirectory
                #expect(contents(of: "\(state)/ledger.sqlite-wal").isEmpty, "the checkpoint has emptied the log")
            }
        }
    }
}
