// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The logs of three phones with the same schedule ids and times, and no id of an installation.
enum Phones {
    static let names = ["happy-stamped", "network-failure", "auth-failure"]
    static let paths = names.map { Sample.path("logs/\($0).log") }
    static let totals = LifecycleTotals(
        scheduled: 3,
        executed: 3,
        success: 1,
        failure: ["NETWORK": 1, "AUTH": 1, "SYSTEM": 0],
        used: 1
    )

    static func log(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// Waits until the phones are counted as three devices, and nothing took them for one.
    static func expectThree(_ service: Service) async throws {
        let client = await service.client
        try await eventually("three phones are counted", every: .milliseconds(50)) {
            try await client.metrics().lifecycle == totals.series
        }
        let page = try await client.metrics()
        #expect(page.value("dnp_prefetch_open_cycles") == 3)
        #expect(page.ingestBalance == 0)
        #expect(await !service.log.contains("several devices"))
    }
}
