// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Measures a ledger's room, holds space back for its upkeep, and lets only that have it (``LedgerRoom``).
final class RoomKeeper: Sendable {
    private let files: LedgerFiles
    private let connection: LedgerConnection
    private let reserve: Mutex<LedgerReserve>
    private let measured = Mutex(Measurement())

    private struct Measurement {
        /// As of the last measurement; nil where the file system does not tell its size.
        var room: LedgerRoom?
        /// Whether the reserve could not take what seemed to be available, as with a quota: nothing is available then.
        var isDenied = false

        mutating func change(_ body: (inout LedgerRoom) -> Void) {
            guard var room else { return }
            body(&room)
            self.room = room
        }
    }

    init(files: LedgerFiles, connection: LedgerConnection) {
        self.files = files
        self.connection = connection
        var reserve = LedgerReserve(files)
        reserve.verify()
        self.reserve = Mutex(reserve)
    }

    /// ``LedgerRoom/groupBytes`` as of the last measurement; no limit on a file system of some size.
    var groupBytes: Int {
        measured.withLock { $0.room.map { $0.needsSmallGroups ? Int($0.groupBytes) : .max } } ?? .max
    }

    /// The room with the space that the file system has now; the sizes of the ledger are those of the last measurement.
    var room: LedgerRoom? {
        let last = measured.withLock { $0 }
        guard var room = last.room, let space = files.space else { return nil }
        room.totalBytes = space.total
        room.availableBytes = last.isDenied ? 0 : space.available
        return room
    }

    /// Throws ``LedgerError/full(detail:)`` when a transaction would take space that is held back.
    ///
    /// - Returns: whether the transaction may use the reserve, because its log finds no other space.
    func admit(
        _ bytes: Int,
        batches: Int,
        stateBytes: Int,
        for purpose: LedgerRoom.Purpose
    ) throws(LedgerError) -> Bool {
        guard let last = room else { return false }
        var atLeast = last
        atLeast.freeBytes = 0
        atLeast.growthBytes = last.growthBytes + last.logBytes
        atLeast.logBytes = 0
        if !last.isShort, atLeast.admits(bytes, batches: batches, stateBytes: stateBytes, for: purpose) { return false }
        let found = try measure(checkpointBytes: last.checkpointBytes) ?? last
        guard found.admits(bytes, batches: batches, stateBytes: stateBytes, for: purpose) else {
            throw .full(detail: "what is left is held back for the next checkpoint and for deleting")
        }
        return found.availableBytes < LedgerRoom.fileBytes(of: bytes, batches: batches)
    }

    /// Runs upkeep, which may take the reserve where it finds no space.
    func drawing<R>(_ body: () throws(LedgerError) -> R) throws(LedgerError) -> R {
        while true {
            do throws(LedgerError) {
                return try body()
            } catch {
                guard case .full = error, draw() else { throw error }
                // Whatever the log has to move may be what there was no space for.
                try? connection.writeBackLog()
            }
        }
    }

    private func draw() -> Bool {
        let step = measured.withLock { $0.room?.stepBytes } ?? LedgerReserve.openingBytes
        let (hasDrawn, rest) = reserve.withLock { ($0.release(step), $0.bytes) }
        measured.withLock { $0.change { $0.reserveBytes = rest } }
        return hasDrawn
    }

    /// Measures the room, moves the log into the database while space is short, and fills the reserve.
    ///
    /// - Parameters:
    ///   - checkpointBytes: what the values of the next checkpoint take at most.
    ///   - mayShrink: whether the reserve may shrink; not before the next checkpoint is known.
    func keep(checkpointBytes: Int64, mayShrink: Bool = true) throws(LedgerError) {
        guard var room = try measure(checkpointBytes: checkpointBytes) else { return }
        let isWorthIt = room.isShort || max(room.growthBytes, room.returningBytes) > room.groupBytes
        if isWorthIt, room.logBytes > 0 {
            let isLong = room.logBytes > room.keptLogBytes
            do throws(LedgerError) {
                try drawing { () throws(LedgerError) in try connection.writeBackLog(truncating: isLong) }
            } catch {
                guard case .full = error else { throw error }
            }
            room = try measure(checkpointBytes: checkpointBytes) ?? room
        }
        let (target, available) = (room.reserveTarget, files.space?.available ?? 0)
        let (before, held, isObstructed) = reserve.withLock {
            let before = $0.bytes
            $0.resize(to: target, available: available, mayShrink: mayShrink)
            return (before, $0.bytes, $0.isObstructed)
        }
        measured.withLock {
            $0.change { $0.reserveBytes = held }
            // Something else in the reserve's place is no lack of space: there is as much as the file system tells.
            $0.isDenied = held < target && available > target - before && !isObstructed
        }
    }

    /// Holds back what a checkpoint needs that has grown or shrunk since the last measurement.
    func expect(checkpointBytes: Int64) {
        measured.withLock { $0.change { $0.checkpointBytes = checkpointBytes } }
    }

    private func measure(checkpointBytes: Int64) throws(LedgerError) -> LedgerRoom? {
        guard let space = files.space else { return nil }
        let pages = try connection.pageSizes()
        let isDenied = measured.withLock { $0.isDenied }
        var room = LedgerRoom(totalBytes: space.total, availableBytes: isDenied ? 0 : space.available)
        room.reserveBytes = reserve.withLock { $0.bytes }
        room.freeBytes = pages.free
        room.logBytes = try files.size(of: files.log) ?? 0
        let databaseBytes = try files.size(of: files.database) ?? 0
        room.databaseBytes = databaseBytes
        room.growthBytes = max(0, pages.database - databaseBytes)
        room.returningBytes = max(0, databaseBytes - pages.database)
        room.checkpointBytes = checkpointBytes
        let measurement = room
        measured.withLock { $0.room = measurement }
        return room
    }

    /// Fills the reserve for the next start, after the ledger was closed and has freed its log.
    func closed() {
        let room = room
        reserve.withLock { $0.resize(to: room?.reserveTarget ?? 0, available: room?.availableBytes ?? .max) }
    }
}
