// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@testable import Collector

@Suite("The status line")
struct ServiceReadingTests {
    static let start = ServiceReading(time: 0, events: 0, refused: 0, waiting: 0, journalBehind: nil, trouble: nil)

    static func after10Seconds(
        events: UInt64 = 0,
        refused: UInt64 = 0,
        waiting: Int = 0,
        journalBehind: UInt64? = nil,
        trouble: LedgerError? = nil
    ) -> ServiceReading {
        ServiceReading(
            time: 10_000_000_000,
            events: events,
            refused: refused,
            waiting: waiting,
            journalBehind: journalBehind,
            trouble: trouble
        )
    }

    @Test(
        "has rates, what waits, and what is wrong",
        arguments: [
            (after10Seconds(), "0 events/s, 0 waiting"),
            (
                after10Seconds(events: 12_040, waiting: 3, journalBehind: 12),
                "1,204 events/s, 3 waiting, journal 12 behind"
            ),
            (after10Seconds(events: 1, journalBehind: 0), "0.1 events/s, 0 waiting, journal 0 behind"),
            (after10Seconds(events: 25), "2.5 events/s, 0 waiting"),
            (after10Seconds(events: 30), "3 events/s, 0 waiting"),
            (after10Seconds(events: 99), "9.9 events/s, 0 waiting"),
            (after10Seconds(events: 9_999_995), "1,000,000 events/s, 0 waiting"),
            (after10Seconds(refused: 50, waiting: 4_096), "0 events/s, 4,096 waiting, 5 refused/s"),
            (
                after10Seconds(refused: 5, trouble: .full(detail: "disk")),
                "no space left for the ledger, events are refused; 0 events/s, 0 waiting, 0.5 refused/s"
            ),
            (
                after10Seconds(trouble: .busy(detail: "")),
                "another connection locks the ledger, events are refused; 0 events/s, 0 waiting"
            ),
        ] as [(ServiceReading, String)]
    )
    func line(reading: ServiceReading, expected: String) {
        #expect(reading.status(since: Self.start) == expected)
    }

    @Test("stands on no numbers that went back, and on no time that did not pass")
    func oddities() {
        let later = Self.after10Seconds(events: 100)
        #expect(Self.start.status(since: later) == "0 events/s, 0 waiting")
        #expect(later.status(since: later) == "0 events/s, 0 waiting")
        var huge = later
        huge.events = .max
        #expect(huge.status(since: Self.start).hasSuffix(" events/s, 0 waiting"))
    }

    @Test("groups the digits of large numbers")
    func grouped() {
        #expect(
            [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000].map(\.grouped).joined(separator: " ")
                == "0 7 999 1,000 12,345 999,999 1,000,000"
        )
        #expect((-1_234).grouped == "-1,234")
    }
}
