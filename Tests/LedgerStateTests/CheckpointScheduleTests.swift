// SPDX-License-Identifier: Apache-2.0

import EventLedger
import PrefetchLifecycle
import TestSupport
import Testing

@testable import LedgerState

@Suite("Checkpoints")
struct CheckpointScheduleTests {
    static func position(_ batch: Int64, _ sequence: UInt64) -> LedgerPosition {
        LedgerPosition(batch: batch, sequence: sequence)
    }

    /// The steps that the schedule wants, by name.
    enum Name: Equatable {
        case tidy, begin, write
        case commit(LedgerPosition)

        init(_ step: CheckpointSchedule.Step) {
            switch step {
            case .tidy: self = .tidy
            case .begin: self = .begin
            case .write: self = .write
            case .commit(let position): self = .commit(position)
            }
        }
    }

    /// A schedule with changes of the projections that are two parts long.
    struct Room {
        var schedule = CheckpointSchedule()
        var stopsAt: LedgerPosition?

        func changes(at position: LedgerPosition) -> ProjectionChanges {
            var small = StateChanges()
            small.put("accounts", [1])
            small.put("sources", [UInt8](repeating: 1, count: CheckpointSchedule.partBytes))
            var fold = LifecycleFold(key: EventText.identityKey)
            return ProjectionChanges(at: position, small: small, folds: fold.takeChanges())
        }

        mutating func next(at position: LedgerPosition, now: Int64) -> Name? {
            (stopsAt.map { schedule.last(at: $0) } ?? schedule.next(at: position, now: now)).map { Name($0) }
        }

        /// Takes the next step, which succeeds.
        mutating func take(at position: LedgerPosition, now: Int64) -> Name? {
            guard let step = next(at: position, now: now) else { return nil }
            switch step {
            case .tidy: schedule.tidied(isDone: true)
            case .begin: schedule.began(changes(at: position))
            case .write: schedule.wrote()
            case .commit(let position): schedule.committed(at: position, now: now)
            }
            return step
        }

        /// Takes every step that is wanted now.
        mutating func takeAll(at position: LedgerPosition, now: Int64) -> [Name] {
            var steps: [Name] = []
            while steps.count < 20, let step = take(at: position, now: now) { steps.append(step) }
            return steps
        }
    }

    @Test("checkpoints are due at once where there is none, go step by step, and never save what is saved")
    func first() {
        var room = Room()
        #expect(room.takeAll(at: .start, now: startOfTest) == [.tidy])
        let position = Self.position(1, 5)
        #expect(room.takeAll(at: position, now: startOfTest) == [.begin, .write, .write, .commit(position), .tidy])
        #expect(room.schedule.last == position)
        #expect(room.takeAll(at: position, now: startOfTest + 3_600_000_000) == [])
    }

    @Test("checkpoints are true for the position at which they began, and count once they are finished")
    func checkpointSchedulePositions() {
        var room = Room()
        let began = Self.position(1, 5)
        #expect(room.take(at: began, now: startOfTest) == .tidy)
        #expect(room.take(at: began, now: startOfTest) == .begin)
        for batch in 2...3 as ClosedRange<Int64> {
            #expect(room.take(at: Self.position(batch, 6), now: startOfTest) == .write)
            #expect(room.schedule.last == .start)
        }
        #expect(room.take(at: Self.position(4, 6), now: startOfTest) == .commit(began))
        #expect(room.schedule.last == began)
    }

    @Test("checkpoints are due after ten seconds or 250,000 events, and when the clock was set back")
    func later() {
        var room = Room()
        _ = room.takeAll(at: Self.position(1, 5), now: startOfTest)
        let next = Self.position(2, 6)
        #expect(room.next(at: next, now: startOfTest) == nil)
        #expect(room.next(at: next, now: startOfTest + 9_999_999) == nil)
        #expect(room.next(at: next, now: startOfTest + 10_000_000) == .begin)
        #expect(room.next(at: Self.position(2, 250_004), now: startOfTest) == nil)
        #expect(room.next(at: Self.position(2, 250_005), now: startOfTest) == .begin)
        #expect(room.next(at: next, now: startOfTest - 1) == .begin)
    }

    @Test("checkpoints that failed go on after a second with the step that failed")
    func failed() {
        var room = Room()
        let position = Self.position(1, 1)
        for step in [Name.tidy, .write, .write, .commit(position)] {
            if step != .tidy, room.next(at: position, now: startOfTest) == .begin {
                _ = room.take(at: position, now: startOfTest)
            }
            #expect(room.next(at: position, now: startOfTest) == step)
            room.schedule.failed(now: startOfTest)
            #expect(room.next(at: position, now: startOfTest + 999_999) == nil)
            #expect(!room.schedule.wantsStep(at: position, now: startOfTest + 999_999))
            #expect(room.take(at: position, now: startOfTest + 1_000_000) == step)
        }
        #expect(room.schedule.last == position)
    }

    @Test("checkpoints that failed go on soon even when the clock was set back meanwhile")
    func failedBeforeClockSetBack() {
        var room = Room()
        room.schedule.failed(now: startOfTest)
        let earlier = startOfTest - 86_400_000_000
        #expect(room.next(at: Self.position(1, 1), now: earlier) == .tidy)
    }

    @Test("checkpoints at a stop finish what is under way and save the rest, without a pause", arguments: 0...4)
    func checkpointScheduleStopping(steps: Int) {
        var room = Room()
        let position = Self.position(1, 5)
        for _ in 0..<steps { _ = room.take(at: position, now: startOfTest) }
        room.schedule.failed(now: startOfTest)
        let end = Self.position(2, 6)
        room.stopsAt = end
        let rest = room.takeAll(at: end, now: startOfTest)
        #expect(rest.last == .commit(end))
        #expect(room.schedule.last == end)
        #expect(rest.contains(.commit(position)) == (steps > 1))
    }
}
