// SPDX-License-Identifier: Apache-2.0

import Testing

extension EndToEnd {
    @Suite("termination")
    struct Terminations {
        @Test("SIGTERM under load ends with 0 within 10 s and loses nothing that was acknowledged")
        func underLoad() async throws {
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

        @Test("SIGTERM ends within 10 s although journald hangs, and what is pending is written after the next start")
        func journaldHangs() async throws {
            let batch = EventFactory(prefix: "hang").cycles(0..<1_000)
            try await Journal.with { journal in
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

        @Test("SIGTERM at rest ends at once, also with a connection held open")
        func atRest() async throws {
            try await withService { service in
                _ = try await service.client.metrics()
                #expect(try await service.terminate(within: .seconds(10)) == .code(0))
                let state = await service.settings.stateDirectory
                #expect(contents(of: "\(state)/ledger.sqlite-wal").isEmpty, "the checkpoint has emptied the log")
            }
        }
    }
}
