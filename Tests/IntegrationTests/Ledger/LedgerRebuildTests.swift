// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("ledger rebuild")
struct LedgerRebuildTests {
    private struct Output: Decodable {
        struct Page: Decodable {
            let page: String
            let difference: String
        }

        let result: String
        let written: Bool
        let savedPages: Int
        let events: Int
        let pages: [Page]

        init(_ command: Command) throws {
            self = try JSONDecoder().decode(Self.self, from: command.output)
        }
    }

    @Test("ledger rebuild reproduces the state over kills, duplicates and retries")
    func ledgerRebuildEqual() async throws {
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            let stop = StopSignal()
            async let first = Sender(client: client, name: "r-a", usesKeys: true, seed: 41).run(until: stop)
            async let second = Sender(client: client, name: "r-b", cycles: 1...5, seed: 42).run(until: stop)
            do {
                for round in 1...5 {
                    let before = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                    try await eventually("200 more are accepted before kill \(round)") {
                        try await client.metrics().sum("dnp_telemetry_events_accepted_total") >= before + 200
                    }
                    let beside = try await Command.ledger(service, "rebuild", "--format", "json")
                    #expect(beside.status == .code(0), "\(beside.text)")
                    await service.kill()
                    try await service.start()
                }
            } catch {
                stop.set()
                throw error
            }
            stop.set()
            _ = try await first + second
            let again = EventFactory(prefix: "again").cycles(0..<10)
            for _ in 0..<3 { _ = try await client.post(again.ndjson).receipt() }
            let accepted = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
            #expect(try await service.terminate() == .code(0))
            let rebuild = try await Command.ledger(service, "rebuild", "--format", "json")
            #expect(rebuild.status == .code(0), "\(rebuild.text)")
            let output = try Output(rebuild)
            #expect(output.result == "equal")
            #expect(output.savedPages >= 3)
            #expect(Double(output.events) == accepted)
        }
    }

    @Test(
        "ledger rebuild finds a changed checkpoint page and repairs it, and the service goes on with the right counters"
    )
    func ledgerRebuildRepairs() async throws {
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            let batch = EventFactory(prefix: "mend").cycles(0..<3)
            _ = try await client.post(batch.ndjson).receipt()
            let running = try await Command.ledger(service, "rebuild", "--write")
            #expect(running.status == .code(2))
            #expect(running.error.contains("is in use by process"))
            #expect(try await service.terminate() == .code(0))

            let accounts = [12, 0, 0, 13].map { [UInt8($0)] + [UInt8](repeating: 0, count: 7) }
            try await StateFile.flip(Data(accounts.joined()), in: await service.settings.stateDirectory)
            let found = try await Command.ledger(service, "rebuild")
            #expect(found.status == .code(1))
            #expect(found.text.contains("problem  the checksum of page accounts is wrong"))
            let mended = try await Command.ledger(service, "rebuild", "--write", "--format", "json")
            #expect(mended.status == .code(0))
            #expect(try Output(mended).written)
            let equal = try await Command.ledger(service, "rebuild")
            #expect(equal.status == .code(0))
            #expect(equal.text.hasPrefix("equal: all "))

            try await service.start()
            #expect(try await client.metrics().lifecycle == batch.totals.series)
            #expect(try await client.post(batch.ndjson).receipt().duplicates == batch.count)
            let page = try await client.metrics()
            #expect(page.lifecycle == batch.totals.series)
            #expect(page.ingestBalance == 0 && page.journalBalance == 0)
            #expect(page.value("dnp_telemetry_ledger_set_aside") == 0)
        }
    }

    @Test("ledger rebuild says that there is nothing to compare with once batches were deleted")
    func ledgerRebuildPruned() async throws {
        try await withService { service in
            let client = await service.client
            let batch = EventFactory(prefix: "gone").cycles(0..<3)
            _ = try await client.post(batch.ndjson).receipt()
            try await eventually("the batch was deleted") {
                try await Command.ledger(service, "dump").text == ""
            }
            let rebuild = try await Command.ledger(service, "rebuild")
            #expect(rebuild.status == .code(0))
            #expect(rebuild.text.hasPrefix("not comparable: batches up to "))
            #expect(rebuild.text.contains(", sequence 12 were deleted"))
            #expect(try await service.terminate() == .code(0))
            let written = try await Command.ledger(service, "rebuild", "--write")
            #expect(written.status == .code(0))
            try await service.start()
            #expect(try await client.metrics().lifecycle == batch.totals.series)
        }
    }
}
