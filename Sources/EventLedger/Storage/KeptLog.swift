// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc

/// What became of the write-ahead log with which a ledger begins a life at its opening (docs/ledger.md#lives).
///
/// SQLite takes a damaged log up to its last sound transaction and writes over the rest, so the first commit would destroy
/// what can still be read of the missing batches. Therefore the log is copied before anything is written, to one file: that
/// of a later loss replaces it.
public enum KeptLog: Sendable, Equatable {
    /// It is kept as it was found.
    case copied(path: String)
    /// It could not be copied.
    case failed(path: String, reason: String)

    /// A longer log is not copied.
    private static let maximumBytes: Int64 = 256 << 20
    /// What the copy leaves free.
    private static let sparedBytes: Int64 = 4 << 20
    private static let bufferBytes = 1 << 20
    /// The header has random numbers that are new with each log.
    private static let headerBytes = 32

    /// Copies the log when the ledger is going to begin a life; nil when there is none to keep.
    ///
    /// A failure is told and not thrown: without the copy the ledger serves as well.
    ///
    /// - Parameter mark: what the mark showed before anything was written.
    static func keep(_ files: LedgerFiles, mark: LedgerMark.Reading, limits: LedgerLimits) -> KeptLog? {
        do throws(LedgerError) {
            guard let size = try LedgerFiles.size(of: files.log), size > Int64(headerBytes),
                try beginsLife(files, mark: mark, limits: limits)
            else { return nil }
            return copy(files, bytes: size)
        } catch {
            // What keeps the ledger from being read fails its opening, too.
            return nil
        }
    }

    /// Whether opening the ledger will begin a life, read without changing a file.
    private static func beginsLife(
        _ files: LedgerFiles,
        mark: LedgerMark.Reading,
        limits: LedgerLimits
    ) throws(LedgerError) -> Bool {
        let connection = try LedgerConnection(path: files.database, readOnly: true, setUp: limits.readerSetUp)
        let result = Result { () throws(LedgerError) -> Bool in
            try connection.transaction(.deferred) { (database) throws(LedgerError) in
                guard try LedgerSchema.version(of: database) >= LedgerSchema.firstWithLives else { return false }
                let end = try EventLedger.lastPosition(in: database)
                var identity = try LedgerIdentity(from: database, end: end)
                identity.compare(with: mark, end: end, now: 0)
                return identity.renewal != nil
            }
        }
        try connection.close()
        return try result.get()
    }

    private static func copy(_ files: LedgerFiles, bytes: Int64) -> KeptLog {
        let target = files.keptLog
        func failed(_ reason: String) -> KeptLog { .failed(path: target, reason: reason) }
        guard bytes <= maximumBytes else { return failed("it has \(bytes) bytes, at most \(maximumBytes) are copied") }
        // A start that was killed after it had copied the log may have written over its end.
        if let header = header(of: files.log), header == self.header(of: target) { return .copied(path: target) }
        if let available = files.availableBytes, available < bytes + sparedBytes {
            return failed("it has \(bytes) bytes, and \(available) are free")
        }
        let part = target + ".part"
        do throws(LedgerError) {
            try copy(files.log, to: part)
            guard unsafe rename(part, target) == 0 else { throw LedgerError(errno: errno, doing: "rename \(part)") }
            try files.synchronizeDirectory()
            return .copied(path: target)
        } catch {
            _ = unsafe unlink(part)
            return failed(error.description)
        }
    }

    private static func copy(_ source: String, to target: String) throws(LedgerError) {
        let input = unsafe open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard input >= 0 else { throw LedgerError(errno: errno, doing: "open \(source)") }
        defer { _ = Glibc.close(input) }
        let output = unsafe open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard output >= 0 else { throw LedgerError(errno: errno, doing: "create \(target)") }
        defer { _ = Glibc.close(output) }
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        while true {
            let count = unsafe Glibc.read(input, &buffer, buffer.count)
            guard count >= 0 else { throw LedgerError(errno: errno, doing: "read \(source)") }
            if count == 0 { break }
            var written = 0
            while written < count {
                let rest = buffer[written..<count]
                let step = unsafe rest.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) }
                guard step > 0 else { throw LedgerError(errno: errno, doing: "write \(target)") }
                written += step
            }
        }
        guard fsync(output) == 0 else { throw LedgerError(errno: errno, doing: "synchronize \(target)") }
    }

    private static func header(of path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { _ = Glibc.close(descriptor) }
        var header = [UInt8](repeating: 0, count: headerBytes)
        return unsafe Glibc.read(descriptor, &header, headerBytes) == headerBytes ? header : nil
    }
}

extension KeptLog: CustomStringConvertible {
    /// One sentence for the log.
    public var description: String {
        switch self {
        case .copied(let path): "the write-ahead log is kept as it was found in \(path)"
        case .failed(let path, let reason): "the write-ahead log could not be kept in \(path): \(reason)"
        }
    }
}
