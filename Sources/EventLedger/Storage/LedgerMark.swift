// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import SystemPrimitives

/// How far a ledger has acknowledged, in a file of its own beside the database.
///
/// SQLite takes a write-ahead log up to its last sound transaction: a damaged, shortened or deleted log is a ledger with
/// fewer batches and no word. The mark is outside the log's reach, and written after each commit and before its
/// acknowledgement. It stays in the page cache: a killed process leaves it complete, and after a power failure it may be
/// behind the ledger, or ahead of it by what the log has lost. It costs one write of 64 bytes a commit.
///
/// A mark that cannot be written stays behind, and holds nothing up: the events are stored, and only the proof of a loss
/// that may never come is weaker. ``failure`` tells it while it lasts.
final class LedgerMark: Sendable {
    /// What the file holds.
    enum Reading: Equatable {
        case absent
        /// It is cut or its checksum is wrong.
        case unreadable
        case read(life: String, position: LedgerPosition)
    }

    /// The magic, the id of the life, batch and sequence, and the checksum of these.
    private static let bytes = 64
    private static let magic = Array("DNPMARK1".utf8)
    private static let lifeBytes = 32
    private static let positionOffset = 40
    private static let positionBytes = 16
    private static let checksumOffset = 56
    /// The space that the file takes in any case, so that no write of it can lack space later.
    private static let reservedBytes: Int64 = 4_096
    /// How often a mark that a service is just writing is read again.
    private static let maximumAttempts = 100

    private struct State {
        var descriptor: Int32 = -1
        var record = LedgerMark.magic + [UInt8](repeating: 0, count: LedgerMark.bytes - LedgerMark.magic.count)
        var position = [UInt8](repeating: 0, count: LedgerMark.positionBytes)
        /// The life in the record, and the checksum of magic and life, which seeds that of the position.
        var life = ""
        var seed: UInt64 = 0
        var failures: UInt64 = 0
        /// The `errno` of the last write, 0 where it was written in part; nil after one that succeeded.
        var code: Int32?
        /// The last number that the file shows, and the last one that was to be written.
        var shown: UInt64
        var reached: UInt64 = 0
        var isWritten = false

        mutating func fail(_ code: Int32) {
            failures += 1
            self.code = code
        }

        /// Encodes in place, because each commit does it.
        mutating func encode(life: String, _ position: LedgerPosition) {
            if life != self.life {
                self.life = life
                let text = Array(life.utf8.prefix(LedgerMark.lifeBytes))
                let padded = text + [UInt8](repeating: 0, count: LedgerMark.lifeBytes - text.count)
                record.replaceSubrange(LedgerMark.magic.count..<LedgerMark.positionOffset, with: padded)
                seed = LedgerMark.seed(of: record)
            }
            for index in 0..<8 {
                let shift = 8 * UInt64(index)
                self.position[index] = UInt8(truncatingIfNeeded: UInt64(bitPattern: position.batch) >> shift)
                self.position[8 + index] = UInt8(truncatingIfNeeded: position.sequence >> shift)
            }
            let checksum = XXH64.hash(self.position, seed: seed)
            for index in 0..<LedgerMark.positionBytes {
                record[LedgerMark.positionOffset + index] = self.position[index]
            }
            for index in 0..<8 {
                record[LedgerMark.checksumOffset + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt64(index)))
            }
        }
    }

    private let path: String
    private let disk: any LedgerDisk
    private let state: Mutex<State>

    /// - Parameter reading: what the file holds.
    init(_ files: LedgerFiles, holding reading: Reading) {
        path = files.markFile
        disk = files.disk
        var shown: UInt64 = 0
        if case .read(_, let position) = reading { shown = position.sequence }
        state = Mutex(State(shown: shown))
    }

    deinit {
        state.withLock { state in
            if state.descriptor >= 0 { disk.close(state.descriptor) }
        }
    }

    /// How many writes failed.
    var failures: UInt64 { state.withLock { $0.failures } }

    /// Why the last write failed; nil after one that succeeded.
    var failure: LedgerMarkFailure? {
        state.withLock { state in
            state.code.map {
                LedgerMarkFailure(path: path, code: $0, events: state.reached - min(state.shown, state.reached))
            }
        }
    }

    /// Whether the mark was written since the ledger was opened.
    var isWritten: Bool { state.withLock { $0.isWritten } }

    /// Replaces the mark; false when that failed, which is counted: the commit that it follows stands.
    ///
    /// A file that could not be created is tried again at the next call.
    @discardableResult
    func write(life: String, _ position: LedgerPosition) -> Bool {
        state.withLock { state in
            state.reached = position.sequence
            do throws(ErrorNumber) {
                if state.descriptor < 0 { try open(&state.descriptor) }
                state.encode(life: life, position)
                guard try disk.write(state.descriptor, state.record, at: 0) == Self.bytes else {
                    state.fail(0)
                    return false
                }
            } catch {
                state.fail(error.code)
                return false
            }
            state.code = nil
            state.shown = position.sequence
            state.isWritten = true
            return true
        }
    }

    /// Makes what was written durable.
    func synchronize() throws(LedgerError) {
        let descriptor = state.withLock { $0.descriptor }
        do throws(ErrorNumber) {
            try disk.synchronize(descriptor)
        } catch {
            throw LedgerError(error, doing: "synchronize \(path)")
        }
    }

    private func open(_ descriptor: inout Int32) throws(ErrorNumber) {
        descriptor = try disk.open(path, O_WRONLY | O_CREAT)
        // Where the file system cannot reserve, the write itself tells.
        try? disk.allocate(descriptor, 0..<Self.reservedBytes)
    }

    // MARK: Reading

    /// Reads the mark, also beside a service that writes it.
    static func read(_ files: LedgerFiles) throws(LedgerError) -> Reading {
        do throws(ErrorNumber) {
            let descriptor = try files.disk.open(files.markFile, O_RDONLY | O_NONBLOCK)
            defer { files.disk.close(descriptor) }
            for _ in 0..<maximumAttempts {
                let record = try files.disk.read(descriptor, bytes, at: 0)
                guard record.count == bytes else { return .unreadable }
                if let reading = decode(record) { return reading }
            }
            return .unreadable
        } catch {
            if error.code == ENOENT { return .absent }
            throw LedgerError(error, doing: "read \(files.markFile)")
        }
    }

    private static func decode(_ record: [UInt8]) -> Reading? {
        let position = Array(record[positionOffset..<checksumOffset])
        guard record.starts(with: magic),
            number(at: checksumOffset, of: record) == XXH64.hash(position, seed: seed(of: record))
        else { return nil }
        return .read(
            life: String(decoding: record[magic.count..<positionOffset].prefix { $0 != 0 }, as: UTF8.self),
            position: LedgerPosition(
                batch: Int64(bitPattern: number(at: 0, of: position)),
                sequence: number(at: 8, of: position)
            )
        )
    }

    private static func seed(of record: [UInt8]) -> UInt64 {
        XXH64.hash(Array(record[..<positionOffset]), seed: 0)
    }

    private static func number(at offset: Int, of bytes: [UInt8]) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
    }
}

/// Why the mark of what was acknowledged cannot be written, and how far it is behind (docs/ledger.md#lives).
public struct LedgerMarkFailure: Error, Sendable, Equatable {
    /// The path of the mark.
    public let path: String
    /// The `errno` of the write, or 0 where only a part of it was written.
    public let code: Int32
    /// How many acknowledged events the mark does not show.
    public let events: UInt64
}

extension LedgerMarkFailure: CustomStringConvertible {
    /// What happened, what it means, and what to do.
    public var description: String {
        let reason = code == 0 ? "a part of it was written" : ErrorNumber(code).text ?? "error \(code)"
        return "\(path) cannot be written (\(reason)): events are stored and acknowledged as before, but should the "
            + "end of the ledger's log be lost, the journal alone will show what is missing; make the file writable"
    }
}
