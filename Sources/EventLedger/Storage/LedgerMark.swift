// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// How far a ledger has acknowledged, in a file of its own beside the database.
///
/// SQLite takes a write-ahead log up to its last sound transaction: a damaged, shortened or deleted log is a ledger with
/// fewer batches and no word. The mark is outside the log's reach, and written after each commit and before its
/// acknowledgement. It stays in the page cache: a killed process leaves it complete, and after a power failure it may be
/// behind the ledger, or ahead of it by what the log has lost. It costs one write of 64 bytes a commit.
final class LedgerMark: Sendable {
    /// What the file holds.
    enum Reading: Equatable {
        case absent
        /// It is cut or its checksum is wrong.
        case unreadable
        case read(life: String, position: LedgerPosition)
    }

    /// The magic, the id of the life, batch, sequence, and the checksum of these.
    private static let bytes = 64
    private static let checksummedBytes = 56
    private static let lifeBytes = 32
    private static let magic = Array("DNPMARK1".utf8)
    /// The space that the file takes in any case, so that no write of it can lack space later.
    private static let reservedBytes: off_t = 4_096
    /// How often a mark that a service is just writing is read again.
    private static let maximumAttempts = 100

    private struct State {
        var descriptor: Int32 = -1
        var record: [UInt8]
        var checksummed: [UInt8]
        var failures: UInt64 = 0
        var isWritten = false
    }

    private let path: String
    private let state: Mutex<State>

    init(_ files: LedgerFiles) {
        path = files.mark
        state = Mutex(
            State(
                record: [UInt8](repeating: 0, count: Self.bytes),
                checksummed: Self.magic + [UInt8](repeating: 0, count: Self.checksummedBytes - Self.magic.count)
            )
        )
    }

    deinit {
        state.withLock { state in
            if state.descriptor >= 0 { _ = Glibc.close(state.descriptor) }
        }
    }

    /// How many writes failed.
    var failures: UInt64 { state.withLock { $0.failures } }

    /// Whether the mark was written since the ledger was opened.
    var isWritten: Bool { state.withLock { $0.isWritten } }

    /// Replaces the mark; false when that failed, which is counted: the commit that it follows stands.
    ///
    /// A file that could not be created is tried again at the next call.
    @discardableResult
    func write(life: String, _ position: LedgerPosition) -> Bool {
        state.withLock { state in
            guard state.descriptor >= 0 || open(&state.descriptor) else {
                state.failures += 1
                return false
            }
            var offset = Self.magic.count
            for byte in life.utf8.prefix(Self.lifeBytes) {
                state.checksummed[offset] = byte
                offset += 1
            }
            while offset < Self.magic.count + Self.lifeBytes {
                state.checksummed[offset] = 0
                offset += 1
            }
            Self.put(UInt64(bitPattern: position.batch), at: offset, into: &state.checksummed)
            Self.put(position.sequence, at: offset + 8, into: &state.checksummed)
            for index in 0..<Self.checksummedBytes { state.record[index] = state.checksummed[index] }
            Self.put(XXH64.hash(state.checksummed, seed: 0), at: Self.checksummedBytes, into: &state.record)
            let descriptor = state.descriptor
            let count = unsafe state.record.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
            guard count == Self.bytes else {
                state.failures += 1
                return false
            }
            state.isWritten = true
            return true
        }
    }

    private func open(_ descriptor: inout Int32) -> Bool {
        descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        // Where the file system cannot reserve, the write itself tells.
        _ = posix_fallocate(descriptor, 0, Self.reservedBytes)
        return true
    }

    private static func put(_ value: UInt64, at offset: Int, into bytes: inout [UInt8]) {
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))) }
    }

    // MARK: Reading

    /// Reads the mark, also beside a service that writes it.
    static func read(_ files: LedgerFiles) throws(LedgerError) -> Reading {
        let descriptor = unsafe Glibc.open(files.mark, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENOENT { return .absent }
            throw LedgerError(errno: code, doing: "open \(files.mark)")
        }
        defer { _ = Glibc.close(descriptor) }
        for _ in 0..<maximumAttempts {
            var record = [UInt8](repeating: 0, count: bytes)
            let count = unsafe record.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
            guard count >= 0 else { throw LedgerError(errno: errno, doing: "read \(files.mark)") }
            guard count == bytes else { return .unreadable }
            if let reading = decode(record) { return reading }
        }
        return .unreadable
    }

    private static func decode(_ record: [UInt8]) -> Reading? {
        let checksummed = Array(record[..<checksummedBytes])
        guard record.starts(with: magic),
            number(at: checksummedBytes, of: record) == XXH64.hash(checksummed, seed: 0)
        else { return nil }
        let start = magic.count
        let life = record[start..<start + lifeBytes].prefix { $0 != 0 }
        return .read(
            life: String(decoding: life, as: UTF8.self),
            position: LedgerPosition(
                batch: Int64(bitPattern: number(at: start + lifeBytes, of: record)),
                sequence: number(at: start + lifeBytes + 8, of: record)
            )
        )
    }

    private static func number(at offset: Int, of bytes: [UInt8]) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
    }
}
