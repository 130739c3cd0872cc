// SPDX-License-Identifier: Apache-2.0

/// The space that a ledger has and the space that it needs for itself, measured at one moment, and what follows from
/// both (docs/ledger.md, "Room").
///
/// A ledger that takes events until its file system is full cannot delete any: a checkpoint has to be written before a
/// batch may go, and the write-ahead log has to move into the database before either. So this much is held back:
///
/// - what moves the log into the database, and what the log itself takes in one step of upkeep;
/// - the next checkpoint, if every page of the state has changed;
/// - a share for ticks, which close cycles and thereby make the state smaller.
///
/// All sizes are in bytes.
public struct LedgerRoom: Sendable, Equatable {
    /// The size of the file system.
    public var totalBytes: Int64
    /// What an unprivileged process may still take of it.
    public var availableBytes: Int64
    /// The size of `ledger.reserve`.
    public var reserveBytes: Int64 = 0
    /// The free pages in the database.
    public var freeBytes: Int64 = 0
    /// The size of the database's file.
    public var databaseBytes: Int64 = 0
    /// The size of the write-ahead log.
    public var logBytes: Int64 = 0
    /// By how much the database grows once the log is moved into it.
    public var growthBytes: Int64 = 0
    /// What the database returns to the file system once the log is moved into it.
    public var returningBytes: Int64 = 0
    /// What the values of the next checkpoint take at most.
    public var checkpointBytes: Int64 = 0

    /// Makes a measurement of an empty ledger.
    public init(totalBytes: Int64, availableBytes: Int64) {
        self.totalBytes = totalBytes
        self.availableBytes = availableBytes
    }

    /// What asks for room.
    public enum Purpose: Sendable {
        /// Events, which a sender can send again.
        case events
        /// A tick, which makes the state smaller.
        case tick
    }

    // MARK: Shares

    /// What the log takes in one step of upkeep: a 32nd of the file system, 32 KiB to 4 MiB.
    public var stepBytes: Int64 { Self.stepBytes(ofTotal: totalBytes) }

    static func stepBytes(ofTotal bytes: Int64) -> Int64 { min(max(bytes / 32, 32 << 10), largestStepBytes) }

    private static let largestStepBytes: Int64 = 4 << 20

    /// The size of a transaction that suits the file system.
    public var groupBytes: Int64 { 2 * stepBytes }

    /// Whether the file system is so small that groups of submissions have to be smaller than the writer would make them.
    var needsSmallGroups: Bool { stepBytes < Self.largestStepBytes }

    /// The size up to which the log may keep its file: what it keeps, events cannot have. Nothing while room is short.
    var keptLogBytes: Int64 { isShort ? 0 : 4 * stepBytes }

    /// The next checkpoint with the pages of the database that it fills partly.
    var checkpointShare: Int64 { checkpointBytes + checkpointBytes / 4 + stepBytes }

    /// What events leave to ticks: a 16th of the file system, 64 KiB to 1 MiB.
    var tickShare: Int64 { min(max(totalBytes / 16, 64 << 10), 1 << 20) }

    /// What the log needs to move into the database and to carry one more step, and no less than four steps, so that events
    /// never take the reserve.
    private var logShare: Int64 {
        max(4 * stepBytes, growthBytes + max(0, 2 * stepBytes - logBytes) + stepBytes)
    }

    // MARK: What follows

    /// The size that `ledger.reserve` should have. Free pages of the database serve a checkpoint as well.
    public var reserveTarget: Int64 { logShare + max(0, checkpointShare - freeBytes) }

    /// What is held back for upkeep and ticks.
    public var heldBackBytes: Int64 { 4 * stepBytes + checkpointShare + tickShare }

    /// What may be written beyond the needs of upkeep; negative when those are not met.
    var spareBytes: Int64 {
        availableBytes + reserveBytes + max(0, freeBytes - checkpointShare) - reserveTarget
    }

    /// What events may take before they are refused.
    public var roomForEvents: Int64 { max(0, spareBytes - tickShare) }

    /// Whether upkeep should hurry: less room than an eighth of the file system, of which at most 64 MiB count.
    public var isShort: Bool { roomForEvents < shortage }

    private var shortage: Int64 { min(totalBytes / 8, 64 << 20) }

    /// How often to halve the limits of the state, so that it takes about a third of the file system at most: by as much
    /// as that is smaller than 4 GiB.
    public var stateHalvings: Int { Self.halvings(ofTotal: totalBytes) }

    /// The same, and while room is short so that the state fits beside what other files hold of the file system; else it
    /// would take the room for good that deleting batches gives back.
    ///
    /// - Parameter current: how often they are halved now. Once lowered, limits stay until there is twice the room that is
    ///   short, so that they do not follow each file that comes and goes.
    public func stateHalvings(from current: Int) -> Int {
        guard roomForEvents < 2 * shortage else { return stateHalvings }
        return max(stateHalvings, current, isShort ? Self.halvings(ofTotal: ownBytes) : 0)
    }

    /// The size of a file system that would have as much space for state and batches as other files leave the ledger here.
    private var ownBytes: Int64 {
        let own = availableBytes + reserveBytes + logBytes + databaseBytes - 5 * stepBytes - tickShare
        return own >= totalBytes / 4 * 3 ? totalBytes : max(0, own) / 3 * 4
    }

    private static func halvings(ofTotal bytes: Int64) -> Int {
        var halvings = 0
        while halvings < 15, bytes << halvings < 4 << 30 { halvings += 1 }
        return halvings
    }

    /// The free pages that stay in the database: those of the next checkpoint, and at most 16 MiB for batches to come.
    var keptFreeBytes: Int64 {
        let batches = reserveBytes + stepBytes < reserveTarget ? 0 : min(Self.keptFreeBytes, totalBytes / 16)
        return max(checkpointShare, checkpointBytes + checkpointBytes / 4 + batches)
    }

    static let keptFreeBytes: Int64 = 16 << 20

    /// Whether a transaction may be written.
    ///
    /// - Parameters:
    ///   - bytes: the size of its batches.
    ///   - batches: how many they are.
    ///   - stateBytes: by how much it may make the next checkpoint larger.
    func admits(_ bytes: Int, batches: Int, stateBytes: Int, for purpose: Purpose) -> Bool {
        var after = self
        after.checkpointBytes += Int64(stateBytes)
        let left = after.spareBytes - (purpose == .events ? tickShare : 0)
        return left >= Self.fileBytes(of: bytes, batches: batches)
    }

    /// What a transaction takes of the file system: in the log, and again in the database.
    static func fileBytes(of bytes: Int, batches: Int) -> Int64 {
        2 * (Int64(bytes) + Int64(bytes) / 8 + Int64(batches) * 64 + (24 << 10))
    }
}
