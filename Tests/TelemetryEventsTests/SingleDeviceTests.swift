// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("A log of a single device")
struct SingleDeviceTests {
    private let log = """
        11-14 05:48:00.123  4211  4230 I DNP-FETCH: BGTask handler invoked (id=notif-1)
        Nov 14 05:48:02 phone App[77]: [DNP-FETCH] Fetch success (id=notif-1, status=200, bytes=1234, ttl=86400)
        {"event":"content_cached","scheduleId":"notif-1","timestamp":"2025-11-14T05:48:03Z"}
        {"event":"content_cached","scheduleId":"notif-1","timestamp":"2025-11-14T05:48:04Z","deviceId":"d"}

        """

    @Test("is one installation, whatever hosts and processes its lines name")
    func one() throws {
        var options = LogDecoderOptions()
        options.installation = Pseudonym(high: 7, low: 8)
        let events = try LogReading(log, options).events
        let installations = events.map { LogReading.value(of: "installation", in: $0) }
        #expect(events.count == 4)
        #expect(installations.filter { $0 == "00000000000000070000000000000008" }.count == 3)
        #expect(installations.allSatisfy { $0 != nil })
    }

    @Test("is told apart by its lines unless it is said to be one")
    func several() throws {
        let events = try LogReading(log).events
        #expect(Set(events.map { LogReading.value(of: "installation", in: $0) }).count > 2)
    }
}
