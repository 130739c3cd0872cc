// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@testable import Collector

@Suite("Checkpoints")
struct CheckpointScheduleTests {
    static func position(_ batch: Int64, _ sequence: UInt64) -> LedgerPosition {
        LedgerPosition(batch: batch, sequence: sequence)
    }

    @Test("are due at once where there is none, and never for what is saved")
    func first() {
        var schedule = CheckpointSchedule()
        #expect(!schedule.isDue(at: .start, now: startOfTest))
        #expect(schedule.isDue(at: Self.position(1, 5), now: startOfTest))
        schedule.saved(at: Self.position(1, 5), now: startOfTest)
        #expect(!schedule.isDue(at: Self.position(1, 5), now: startOfTest + 3_600_000_000))
    }

    @Test("are due after ten seconds or 250,000 events, and when the clock was set back")
    func later() {
        var schedule = CheckpointSchedule()
        schedule.saved(at: Self.position(1, 5), now: startOfTest)
        let next = Self.position(2, 6)
        #expect(!schedule.isDue(at: next, now: startOfTest))
        #expect(!schedule.isDue(at: next, now: startOfTest + 9_999_999))
        #expect(schedule.isDue(at: next, now: startOfTest + 10_000_000))
        #expect(!schedule.isDue(at: Self.position(2, 250_004), now: startOfTest))
        #expect(schedule.isDue(at: Self.position(2, 250_005), now: startOfTest))
        #expect(schedule.isDue(at: next, now: startOfTest - 1))
    }

    @Test("that failed are tried again after a second")
    func failed() {
        var schedule = CheckpointSchedule()
        let next = Self.position(1, 1)
        schedule.failed((changes: StateChanges(), position: next), now: startOfTest)
        #expect(!schedule.isDue(at: next, now: startOfTest + 999_999))
        #expect(schedule.isDue(at: next, now: startOfTest + 1_000_000))
        #expect(schedule.unsaved?.position == next)
        schedule.saved(at: next, now: startOfTest + 1_000_000)
        #expect(schedule.unsaved == nil)
        #expect(schedule.last == next)
    }

    @Test("that failed are tried again soon even when the clock was set back meanwhile")
    func failedBeforeClockSetBack() {
        var schedule = CheckpointSchedule()
        let next = Self.position(1, 1)
        schedule.failed((changes: StateChanges(), position: next), now: startOfTest)
        let earlier = startOfTest - 86_400_000_000
        #expect(schedule.isDue(at: next, now: earlier) || schedule.isDue(at: next, now: earlier + 2_000_000))
    }
}
