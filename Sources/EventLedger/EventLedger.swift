// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// The durable, ordered record of accepted events, in an SQLite database with a write-ahead log.
///
/// Its unit is the batch. Batches have contiguous ids and events contiguous sequence numbers, both from 1, and no number
/// is used twice in a life of the ledger (``LedgerLife``). Projections keep their state and their position here too, so
/// that both change together. One process works on a directory at a time; within it, any thread may call, and writers
/// take turns. All calls block for as long as the disk takes.
public final class EventLedger: Sendable {
    /// The maximum length of a projection's name, in bytes.
    public static let maximumProjectionBytes = 128

    /// The maximum length of the note beside a position, in bytes: 64 KiB.
    public static let maximumNoteBytes = 64 << 10

    /// How many rows one call of ``tidy(_:bytes:)`` scans for those that an earlier process left.
    private static let scannedRows = 2_048

    /// What deleting a row counts for beside its value, in bytes.
    private static let rowBytes = 4_096

    /// Reads without waiting for the writer.
    public let reader: LedgerReader

    /// The ledger's id: 16 random bytes in hexadecimal, chosen when it was created.
    public let id: String

    /// When the ledger was created, in microseconds since 1970 UTC.
    public let createdAt: Int64

    /// What became of the write-ahead log that was found when the opening began a life; nil without a life or a log.
    public let keptLog: KeptLog?

    let connection: LedgerConnection
    let identity: Mutex<LedgerIdentity>
    /// Nil where the ledger is opened for maintenance, which acknowledges nothing.
    let mark: LedgerMark?
    private let end: Mutex<LedgerPosition>
    private let lock: Mutex<DirectoryLock?>
    private let upkeep = Mutex<[String: StateUpkeep]>([:])
    let keeper: RoomKeeper

    /// The position of the last committed batch.
    public var position: LedgerPosition {
        end.withLock { $0 }
    }

    init(
        connection: LedgerConnection,
        reader: LedgerReader,
        identity: LedgerIdentity,
        keptLog: KeptLog?,
        mark: LedgerMark?,
        end: LedgerPosition,
        lock: DirectoryLock
    ) throws(LedgerError) {
        self.connection = connection
        self.reader = reader
        id = identity.id
        createdAt = identity.createdAt
        self.keptLog = keptLog
        self.identity = Mutex(identity)
        self.mark = mark
        self.end = Mutex(end)
        self.lock = Mutex(lock)
        keeper = RoomKeeper(files: reader.files, connection: connection)
        try keeper.keep(checkpointBytes: 0, mayShrink: false)
    }

    /// Closes the files and unlocks the directory; every later call throws.
    ///
    /// SQLite then moves the write-ahead log into the database, so that one file remains beside the lock and the reserve.
    public func close() throws(LedgerError) {
        try reader.close()
        do throws(LedgerError) {
            try keeper.drawing { () throws(LedgerError) in try connection.writeBackLog() }
        } catch {
            // What cannot be moved now stays in the log, which the next start reads.
        }
        try connection.close()
        keeper.closed()
        lock.withLock { $0 = nil }
    }

    // MARK: Appending

    /// Appends batches in one transaction and returns the position after the last of them.
    ///
    /// When it returns, they are as durable as the ledger was opened for. When it throws, none of them is stored, and
    /// the next batches get their numbers.
    ///
    /// - Parameters:
    ///   - batches: what to append, in order.
    ///   - purpose: what asks for room.
    ///   - stateBytesPerEvent: by how much an event may make the next checkpoint larger.
    /// - Throws: ``LedgerError/full(detail:)`` also where the space that is left is held back (``LedgerRoom``).
    @discardableResult
    public func append(
        _ batches: [LedgerBatch],
        for purpose: LedgerRoom.Purpose = .events,
        stateBytesPerEvent: Int = 0
    ) throws(LedgerError) -> LedgerPosition {
        for batch in batches where batch.receipt.count + batch.events.count > LedgerBatch.maximumBytes {
            throw LedgerError.refused(
                detail: "a batch may have \(LedgerBatch.maximumBytes) bytes, this one has "
                    + "\(batch.receipt.count + batch.events.count)"
            )
        }
        guard !batches.isEmpty else { return position }
        let mayDraw = try keeper.admit(
            batches.reduce(0) { $0 + $1.receipt.count + $1.events.count },
            batches: batches.count,
            stateBytes: batches.reduce(0) { $0 + Int($1.count) } * stateBytesPerEvent,
            for: purpose
        )
        guard mayDraw else { return try insert(batches) }
        return try keeper.drawing { () throws(LedgerError) in try insert(batches) }
    }

    private func insert(_ batches: [LedgerBatch]) throws(LedgerError) -> LedgerPosition {
        try connection.access { (database) throws(LedgerError) in
            let start = position
            let isMarked = mark?.isWritten ?? false
            let unstored = identity.withLock { $0.isStored(isMarked: isMarked) ? nil : $0 }
            let end = try LedgerConnection.transaction(.immediate, in: database) { (database) throws(LedgerError) in
                try unstored?.store(in: database, isMarked: isMarked)
                let table = BatchTable(database)
                var end = start
                for batch in batches {
                    let (sequence, overflow) = end.sequence.addingReportingOverflow(UInt64(batch.count))
                    guard !overflow, sequence < UInt64(Int64.max), end.batch < Int64.max else {
                        throw LedgerError.refused(detail: "the ledger has no numbers left after \(end)")
                    }
                    try table.insert(batch, id: end.batch + 1, firstSequence: end.sequence + 1)
                    end = LedgerPosition(batch: end.batch + 1, sequence: sequence)
                }
                return end
            }
            self.end.withLock { $0 = end }
            let life = identity.withLock { identity in
                if unstored != nil { identity.stored(isMarked: isMarked) }
                return identity.current.id
            }
            mark?.write(life: life, end)
            return end
        }
    }

    /// Commits a transaction that writes a page and changes nothing: proof that the ledger is writable now.
    public func touch() throws(LedgerError) {
        try connection.transaction(.immediate) { (database) throws(LedgerError) in try MetaTable(database).touch() }
    }

    // MARK: Checkpoints and positions

    /// Writes what changed in a projection's state together with the position that the state is now true for.
    ///
    /// Both are in one transaction: a reader or a restart sees state and position from before, or both from after.
    /// It discards what ``stage(_:of:)`` wrote before. Stage changes of more than some megabytes instead.
    /// - Parameters:
    ///   - projection: the projection's name.
    ///   - position: a position that the ledger has reached; it may be earlier than the last one.
    ///   - changes: the pages to write and to remove.
    ///   - note: a text of the projection's own.
    ///   - now: the time, in microseconds since 1970 UTC.
    public func checkpoint(
        projection: String,
        at position: LedgerPosition,
        changes: StateChanges,
        note: String = "",
        now: Int64
    ) throws(LedgerError) {
        try validate(projection, position, note)
        try changes.validate()
        while try !tidy(projection) {}
        let keys = try upkeepTransaction { (database) throws(LedgerError) in
            let positions = PositionTable(database)
            let generation = try positions.generation(of: projection) + 1
            let keys = try StateTable(database).stage(changes, of: projection, generation: generation)
            try positions.set(projection, to: position, generation: generation, note: note, at: now)
            return keys
        }
        upkeep.withLock {
            $0[projection, default: StateUpkeep()].staged(keys)
            $0[projection, default: StateUpkeep()].discard()
        }
    }

    /// Records the position of a projection that keeps no state here; one small transaction.
    public func advance(
        projection: String,
        to position: LedgerPosition,
        note: String = "",
        now: Int64
    ) throws(LedgerError) {
        try validate(projection, position, note)
        try upkeepTransaction { (database) throws(LedgerError) in
            try PositionTable(database).set(projection, to: position, note: note, at: now)
        }
    }

    /// Deletes a projection's state and position, so that it no longer holds back pruning.
    public func forget(projection: String) throws(LedgerError) {
        try upkeepTransaction { (database) throws(LedgerError) in
            try StateTable(database).removeAll(of: projection)
            try PositionTable(database).remove(projection)
        }
        upkeep.withLock { $0[projection] = nil }
    }

    private func validate(_ projection: String, _ position: LedgerPosition, _ note: String) throws(LedgerError) {
        guard !projection.isEmpty, projection.utf8.count <= Self.maximumProjectionBytes else {
            throw LedgerError.refused(
                detail: "a projection's name has 1 to \(Self.maximumProjectionBytes) bytes, "
                    + "this one has \(projection.utf8.count)"
            )
        }
        guard note.utf8.count <= Self.maximumNoteBytes else {
            throw LedgerError.refused(
                detail: "a note has at most \(Self.maximumNoteBytes) bytes, this one has \(note.utf8.count)"
            )
        }
        let end = self.position
        guard position.batch >= 0, position.batch <= end.batch, position.sequence <= end.sequence else {
            throw LedgerError.refused(detail: "the ledger ends at \(end), before \(position)")
        }
    }

    // MARK: Checkpoints in parts

    /// Writes a part of the next checkpoint in a transaction of its own, so that no part delays a commit for long.
    ///
    /// First call ``tidy(_:bytes:)`` until it returns true, then this for each part, then
    /// ``commitStage(of:at:note:now:)``. Until that last, tiny transaction every reader and every restart sees the
    /// checkpoint before. When it throws, nothing of this part is stored, and the same call may be repeated.
    /// - Throws: ``LedgerError/refused(detail:)`` when ``tidy(_:bytes:)`` has not returned true.
    public func stage(_ changes: StateChanges, of projection: String) throws(LedgerError) {
        try validate(projection, .start, "")
        try changes.validate()
        guard upkeep.withLock({ $0[projection]?.isTidy ?? false }) else {
            throw LedgerError.refused(detail: "the state of '\(projection)' has to be tidied before a part is staged")
        }
        let keys = try upkeepTransaction { (database) throws(LedgerError) in
            let generation = try PositionTable(database).generation(of: projection) + 1
            return try StateTable(database).stage(changes, of: projection, generation: generation)
        }
        upkeep.withLock { $0[projection, default: StateUpkeep()].staged(keys) }
    }

    /// Makes everything that was staged the projection's state, with the position that it is true for.
    public func commitStage(
        of projection: String,
        at position: LedgerPosition,
        note: String = "",
        now: Int64
    ) throws(LedgerError) {
        try validate(projection, position, note)
        guard upkeep.withLock({ $0[projection]?.isTidy ?? false }) else {
            throw LedgerError.refused(detail: "nothing of '\(projection)' was staged since its state was tidied")
        }
        try upkeepTransaction { (database) throws(LedgerError) in
            let positions = PositionTable(database)
            let generation = try positions.generation(of: projection) + 1
            try positions.set(projection, to: position, generation: generation, note: note, at: now)
        }
        upkeep.withLock { $0[projection, default: StateUpkeep()].discard() }
    }

    /// Deletes a part of the obsolete pages of a projection's state: those that were replaced or removed, and those of
    /// a checkpoint that was never committed, which it discards.
    ///
    /// - Parameter bytes: the size of the pages after which the call ends, about.
    /// - Returns: true when there is nothing more to delete.
    public func tidy(_ projection: String, bytes: Int = 256 << 10) throws(LedgerError) -> Bool {
        var state = upkeep.withLock { $0[projection] ?? StateUpkeep() }
        state.discard()
        guard !state.isTidy else { return true }
        let tidied = try upkeepTransaction { (database) throws(LedgerError) in
            let table = StateTable(database)
            let committed = try PositionTable(database).generation(of: projection)
            var state = state
            if let start = state.searchFrom, state.outdated.isEmpty {
                (state.outdated, state.searchFrom) = try table.outdatedKeys(
                    of: projection,
                    from: start,
                    committed: committed,
                    rows: Self.scannedRows
                )
            }
            var rest = max(1, bytes)
            while rest > 0, let key = state.outdated.popLast() {
                rest -= try table.tidy(key, of: projection, committed: committed) + Self.rowBytes
            }
            return state
        }
        upkeep.withLock { $0[projection] = tidied }
        return tidied.isTidy
    }

    // MARK: Retention

    /// The result of ``prune(upTo:keepSince:now:limit:bytes:vacuumBytes:)``.
    public struct Pruning: Sendable, Equatable {
        /// How many batches were deleted.
        public var batches = 0
        /// True when the call ended at a limit, so that there may be more to delete.
        public var isCutShort = false
    }

    /// Deletes the oldest batches, at most `limit` of them.
    ///
    /// It deletes a prefix of the ledger, up to the first batch that is not old enough: one stamped by a clock that was
    /// behind takes none of its neighbours with it. One stamped after `now`, by a clock that was ahead, does not hold back
    /// its neighbours and goes with the next old one. The file shrinks by at most `vacuumBytes` a call.
    /// - Parameters:
    ///   - position: the least position of all projections; nothing after it is deleted.
    ///   - keepSince: batches received at this time or later stay, in microseconds since 1970 UTC.
    ///   - now: the latest time that can be believed of a batch.
    ///   - limit: the maximum number of batches to scan and to delete in one call.
    ///   - bytes: the size of the batches after which the call ends, about; 1 MiB takes some milliseconds.
    ///   - vacuumBytes: how many bytes of the file to return to the file system in one call.
    @discardableResult
    public func prune(
        upTo position: LedgerPosition,
        keepSince: Int64,
        now: Int64 = .max,
        limit: Int = 256,
        bytes: Int = 1 << 20,
        vacuumBytes: Int = 512 << 10
    ) throws(LedgerError) -> Pruning {
        let pruning = try upkeepTransaction { (database) throws(LedgerError) in
            let table = BatchTable(database)
            guard
                let (last, isCutShort) = try table.lastPrunable(
                    upTo: position.batch,
                    keepSince: keepSince,
                    now: now,
                    limit: limit,
                    bytes: bytes
                )
            else { return Pruning() }
            let deleted = try table.delete(upTo: last.batch)
            try MetaTable(database).setPruned(last)
            return Pruning(batches: deleted, isCutShort: isCutShort)
        }
        // The free pages that stay let the next batches and the next checkpoint be written without growing the file.
        let kept = keeper.room?.keptFreeBytes ?? LedgerRoom.keptFreeBytes
        try keeper.drawing { () throws(LedgerError) in
            try connection.releaseFreePages(keepingBytes: kept, limitBytes: vacuumBytes)
        }
        return pruning
    }

    // MARK: Room

    /// The space that the ledger has and holds back; nil where the file system does not tell.
    public var room: LedgerRoom? { keeper.room }

    /// The size of a group that suits the file system, in bytes.
    var groupBytes: Int { keeper.groupBytes }

    /// Measures the space, moves the write-ahead log into the database while it is short, and fills `ledger.reserve`.
    ///
    /// Call it every second at least, and more often while ``LedgerRoom/isShort``.
    /// - Parameter checkpointBytes: what the values of the next checkpoint take at most, which is held back from now on.
    public func keepRoom(checkpointBytes: Int) throws(LedgerError) {
        try keeper.keep(checkpointBytes: Int64(checkpointBytes))
    }

    /// Holds back space for a checkpoint from now on, without measuring: cheap enough for every commit.
    public func expectCheckpoint(of bytes: Int) {
        keeper.expect(checkpointBytes: Int64(bytes))
    }

    /// Runs a transaction that may use the space which is held back.
    private func upkeepTransaction<R>(
        _ body: (Database) throws(LedgerError) -> R
    ) throws(LedgerError) -> R {
        try keeper.drawing { () throws(LedgerError) in try connection.transaction(.immediate, body) }
    }
}
