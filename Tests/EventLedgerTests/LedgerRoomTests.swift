// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("The room that a ledger holds back")
struct LedgerRoomTests {
    private static let megabyte: Int64 = 1 << 20

    private func room(of total: Int64, available: Int64) -> LedgerRoom {
        var room = LedgerRoom(totalBytes: total << 20, availableBytes: available << 20)
        room.reserveBytes = room.reserveTarget
        return room
    }

    @Test(
        "the shares grow with the file system up to 4 MiB a step and 1 MiB for ticks",
        arguments: [(12, 384, 768), (24, 768, 1_024), (64, 2_048, 1_024), (256, 4_096, 1_024), (4_096, 4_096, 1_024)]
    )
    func shares(total: Int64, step: Int64, tick: Int64) {
        let room = room(of: total, available: total)
        #expect(room.stepBytes == step << 10)
        #expect(room.tickShare == tick << 10)
        #expect(room.heldBackBytes == 5 * step << 10 + tick << 10)
        #expect(room.heldBackBytes <= (total << 20) / 4)
    }

    @Test("what the next checkpoint needs is held back, in free pages first and then in the reserve")
    func checkpointNeed() {
        var room = room(of: 64, available: 30)
        let before = room
        room.checkpointBytes = 8 * Self.megabyte
        #expect(room.heldBackBytes == before.heldBackBytes + 10 * Self.megabyte)
        #expect(room.reserveTarget == before.reserveTarget + 10 * Self.megabyte)
        #expect(room.roomForEvents == before.roomForEvents - 10 * Self.megabyte)
        room.freeBytes = 7 * Self.megabyte
        #expect(room.reserveTarget == before.reserveTarget + 3 * Self.megabyte)
        room.freeBytes = 20 * Self.megabyte
        #expect(room.reserveTarget == 4 * room.stepBytes)
        #expect(room.spareBytes > before.spareBytes)
    }

    @Test("events are refused before ticks are, and both before what upkeep needs is touched")
    func order() {
        var room = room(of: 64, available: 0)
        var last = room
        while room.admits(10_000, batches: 1, stateBytes: 0, for: .events) == false {
            last = room
            room.availableBytes += 4_096
        }
        #expect(last.admits(10_000, batches: 1, stateBytes: 0, for: .tick))
        last.availableBytes = 0
        last.reserveBytes = last.stepBytes
        #expect(!last.admits(1, batches: 1, stateBytes: 0, for: .tick))
        #expect(last.roomForEvents == 0)
    }

    @Test("a transaction counts twice, for the log and the database, and with what it adds to the next checkpoint")
    func transaction() {
        var room = room(of: 256, available: 0)
        room.reserveBytes = 0
        func admitted(_ bytes: Int, state: Int) -> Int64 {
            room.availableBytes = 0
            while !room.admits(bytes, batches: 1, stateBytes: state, for: .events) { room.availableBytes += 1_024 }
            return room.availableBytes
        }
        let small = admitted(1_000, state: 0)
        #expect(admitted(1_001_000, state: 0) - small >= 2_000_000)
        #expect(admitted(1_000, state: 1_000_000) - small >= 1_250_000 - 1_024)
    }

    @Test("a log that cannot move into the database takes the room that it will need there")
    func growth() {
        var room = room(of: 64, available: 20)
        let before = room.roomForEvents
        room.growthBytes = 4 * Self.megabyte
        #expect(room.roomForEvents == before - 2 * Self.megabyte, "8 MiB are held back anyway")
        room.growthBytes = 10 * Self.megabyte
        #expect(room.roomForEvents == before - 8 * Self.megabyte)
    }

    @Test(
        "the limits of the state are halved once for each halving of 4 GiB",
        arguments: [(12, 9), (64, 6), (256, 4), (1_024, 2), (4_095, 1), (4_096, 0), (1 << 20, 0)]
    )
    func halvings(total: Int64, halvings: Int) {
        #expect(room(of: total, available: 1).stateHalvings == halvings)
    }

    @Test("while room is short the limits suit what other files leave, and they go back with twice the room")
    func crowded() {
        var room = room(of: 256, available: 4)
        #expect(room.isShort && room.stateHalvings == 4)
        #expect(room.stateHalvings(from: 0) == 10, "beside what is held back there are 3 MiB for state and batches")
        room.databaseBytes = 220 * Self.megabyte
        #expect(room.stateHalvings(from: 0) == 4, "what the ledger has itself is not another's")
        #expect(room.stateHalvings(from: 6) == 6)
        room.databaseBytes = 0
        room.availableBytes = 40 * Self.megabyte
        #expect(!room.isShort)
        #expect(room.stateHalvings(from: 10) == 10, "not raised yet")
        #expect(room.stateHalvings(from: 0) == 4, "not lowered either")
        room.availableBytes = 70 * Self.megabyte
        #expect(room.stateHalvings(from: 10) == 4)
        room.availableBytes = 0
        room.reserveBytes = 0
        #expect(room.stateHalvings(from: 4) == 15)
    }

    @Test("while room is short the log keeps nothing of its file, so that events can have it")
    func keptLog() {
        var room = room(of: 256, available: 100)
        #expect(!room.isShort && room.keptLogBytes == 16 * Self.megabyte)
        room.availableBytes = 30 * Self.megabyte
        #expect(room.isShort && room.keptLogBytes == 0)
    }

    @Test("of absurd sizes nothing overflows")
    func absurd() {
        var room = LedgerRoom(totalBytes: .max, availableBytes: .max / 4)
        room.checkpointBytes = 1 << 50
        #expect(!room.isShort && room.stateHalvings(from: 3) == 0)
        #expect(room.admits(64 << 20, batches: 1, stateBytes: 1 << 40, for: .events))
    }
}
