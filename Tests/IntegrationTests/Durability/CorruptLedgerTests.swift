// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("corrupt ledger")
    struct CorruptLedgers {
        @Test("a ledger of garbage is set aside under a dated name, and the service starts")
        func garbage() async throws {
            var random = SplitMix64(seed: 8)
            let garbage = Data((0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) })
            let batch = EventFactory(prefix: "corrupt").cycles(0..<10)
            try await withService { service in
                let client = await service.client
                let state = await service.settings.stateDirectory
                #expect(try await client.metrics().value("dnp_telemetry_ledger_set_aside") == 0)
                _ = try await client.post(batch.ndjson).receipt()
                #expect(try await service.terminate() == .code(0))
                try garbage.write(to: URL(fileURLWithPath: "\(state)/ledger.sqlite"))

                try await service.start()
                #expect(try await client.metrics().value("dnp_telemetry_ledger_set_aside") == 1)
                let aside = try setAside(in: state, holding: garbage)
                let name = try #require(aside, "the old file is not there any more")
                #expect(name.contains("\(Calendar.current.component(.year, from: Date()))"), "no date in \(name)")
                #expect(await service.log.contains(name), "the log does not name \(name)")
                #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)

                #expect(try await service.terminate() == .code(0))
                try await service.start()
                let page = try await client.metrics()
                #expect(page.value("dnp_telemetry_ledger_set_aside") == 0)
                #expect(page.lifecycle == batch.totals.series)
                #expect(try setAside(in: state, holding: garbage) == name)
            }
        }

        @Test("a ledger cut in the middle is set aside or read, and the service starts")
        func truncated() async throws {
            let batch = EventFactory(prefix: "cut").cycles(0..<2_000)
            try await withService { service in
                let client = await service.client
                let path = await service.settings.stateDirectory + "/ledger.sqlite"
                _ = try await client.post(batch.ndjson).receipt()
                #expect(try await service.terminate() == .code(0))
                let whole = contents(of: path)
                try whole.prefix(whole.count / 2 + 100).write(to: URL(fileURLWithPath: path))
                try await service.start()
                let page = try await client.metrics()
                let isAside = page.value("dnp_telemetry_ledger_set_aside") == 1
                #expect(isAside || page.lifecycle == batch.totals.series, "counters gone, and not a word")
                let next = EventFactory(prefix: "after").cycles(0..<5)
                #expect(try await client.post(next.ndjson).receipt().accepted == next.count)
            }
        }

        private func setAside(in state: String, holding bytes: Data) throws -> String? {
            let names = try FileManager.default.subpathsOfDirectory(atPath: state)
            return names.first { contents(of: "\(state)/\($0)") == bytes }
        }
    }
}
