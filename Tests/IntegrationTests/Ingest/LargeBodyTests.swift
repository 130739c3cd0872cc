// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

extension EndToEnd {
    @Suite("large bodies")
    struct LargeBodies {
        private final class Answered: Sendable {
            let count = Atomic(0)
        }

        @Test(
            "hold up neither health nor scrape, as log lines and as JSON",
            arguments: ["text/plain", "application/x-ndjson"]
        )
        func others(type: String) async throws {
            let line =
                type == "text/plain"
                ? "2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z\n"
                : #"{"event":"prefetch_executed","scheduleId":"s","timestamp":"2025-11-15T05:50:00Z"}"# + "\n"
            let body = Array(String(repeating: line, count: 30_000).utf8)
            let posts = 4 * ProcessInfo.processInfo.activeProcessorCount
            let answered = Answered()
            try await withService { service in
                let client = await service.client
                let looks = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<posts {
                        group.addTask {
                            defer { answered.count.wrappingAdd(1, ordering: .relaxed) }
                            return try await client.post(body, type: type).status
                        }
                    }
                    var looks = 0
                    while answered.count.load(ordering: .relaxed) < posts {
                        #expect(try await client.get("/-/healthy").status == 200)
                        #expect(try await client.get("/metrics").status == 200)
                        looks += 1
                    }
                    for try await status in group { #expect(status == 200) }
                    return looks
                }
                #expect(looks > 0, "health and scrape are answered before all bodies are")
                #expect(try await client.metrics().ingestBalance == 0)
            }
        }
    }
}
