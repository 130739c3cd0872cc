// SPDX-License-Identifier: Apache-2.0

import Testing

extension EndToEnd {
    @Suite("broken events")
    struct BrokenEvents {
        /// 100,000 events of which every tenth is broken, each time in the next way.
        private struct Mixture {
            var lines: [[UInt8]] = []
            var broken: [Int: BrokenEvent] = [:]
            var totals = LifecycleTotals()

            init(count: Int, ways: [BrokenEvent]) {
                let good = EventFactory(prefix: "good").cycles(0..<count / 3)
                let small = ways.filter { !$0.isLarge }
                var used = EventBatch()
                for index in 0..<count {
                    if index % 10 == 9 {
                        let turn = index / 10
                        let all = turn < 5 * ways.count ? ways : small
                        let way = all[turn % all.count]
                        broken[index] = way
                        lines.append(way.bytes(index))
                    } else {
                        let next = used.count
                        let identity = good.identities[next]
                        used.append(identity.kind, schedule: identity.scheduleId, line: good.lines[next])
                        if let reason = ["NETWORK", "AUTH", "SYSTEM"].first(where: good.lines[next].contains) {
                            used.totals.failure[reason, default: 0] += 1
                        }
                        lines.append(Array(good.lines[next].utf8))
                    }
                }
                totals = used.totals
            }

            func body(separator: UInt8) -> [UInt8] { Array(lines.joined(separator: [separator])) }
        }

        @Test("every tenth of 100,000 lines is broken: the others count, and each broken one is named")
        func lines() async throws {
            let mixture = Mixture(count: 100_000, ways: BrokenEvent.ways)
            #expect(BrokenEvent.ways.count >= 25)
            try await check(mixture, body: mixture.body(separator: UInt8(ascii: "\n")), type: "application/x-ndjson")
        }

        @Test("every tenth of 100,000 elements of an array is broken: the others count, and each broken one is named")
        func array() async throws {
            let mixture = Mixture(count: 100_000, ways: BrokenEvent.ways.filter(\.standsInArray))
            let body = [UInt8(ascii: "[")] + mixture.body(separator: UInt8(ascii: ",")) + [UInt8(ascii: "]")]
            try await check(mixture, body: body, type: "application/json")
        }

        private func check(_ mixture: Mixture, body: [UInt8], type: String) async throws {
            try await withService { service in
                let client = await service.client
                let receipt = try await client.post(body, type: type).receipt()
                #expect(receipt.accepted == mixture.lines.count - mixture.broken.count)
                #expect(receipt.duplicates == 0)
                let reasons = Dictionary(receipt.rejected.map { ($0.index, $0.reason) }) { first, _ in first }
                #expect(reasons.count == receipt.rejected.count, "an index is named twice")
                let unnamed = mixture.broken.filter { reasons[$0.key] == nil }
                #expect(
                    unnamed.count == 0,
                    "accepted, or not named: \(Set(unnamed.values.map(\.name)).sorted()) (\(unnamed.count))"
                )
                let wronged = reasons.filter { mixture.broken[$0.key] == nil }
                #expect(wronged.count == 0, "good events refused: \(wronged.prefix(3))")
                var unclear: [String: String] = [:]
                for (index, reason) in reasons {
                    if let way = mixture.broken[index], !way.isNamed(by: reason) { unclear[way.name] = reason }
                }
                #expect(unclear.isEmpty, "reasons that do not name the problem: \(unclear)")

                let page = try await client.metrics()
                #expect(page.lifecycle == mixture.totals.series)
                #expect(page.sum("dnp_telemetry_events_rejected_total") == Double(mixture.broken.count))
                #expect(page.sum("dnp_telemetry_events_received_total") == Double(mixture.lines.count))
                #expect(page.ingestBalance == 0)
                let repeated = try await client.post(body, type: type).receipt()
                #expect(repeated.accepted == 0)
                #expect(repeated.duplicates == receipt.accepted)
            }
        }

        @Test("a second object on a line is read or refused, never swallowed")
        func twoOnALine() async throws {
            let batch = EventFactory(prefix: "line").cycles(0..<1)
            try await withService { service in
                let client = await service.client
                let receipt = try await client.post(Array(batch.lines.joined(separator: " ").utf8)).receipt()
                let isTold = receipt.accepted == batch.count || !receipt.rejected.isEmpty
                #expect(isTold, "\(batch.count) events on one line: \(receipt)")
            }
        }

        @Test("a batch of broken events alone is refused as a whole, with a reason for each")
        func allBroken() async throws {
            try await withService { service in
                let client = await service.client
                let small = BrokenEvent.ways.filter { !$0.isLarge }
                let body = small.enumerated().map { $1.bytes($0) }.joined(separator: [UInt8(ascii: "\n")])
                let answer = try await client.post(Array(body))
                #expect(answer.status == 400)
                let problem = try answer.problem()
                #expect(problem.rejected?.map(\.index) == Array(small.indices))
                let page = try await client.metrics()
                #expect(page.sum("dnp_telemetry_events_rejected_total") == Double(small.count))
                #expect(page.ingestBalance == 0)
                #expect(page.lifecycle == LifecycleTotals().series)
            }
        }
    }
}
