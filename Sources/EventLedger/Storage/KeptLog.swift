// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc
internal import SystemPrimitives

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
            guard let size = try files.size(of: files.log), size > Int64(headerBytes),
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
        let connection = try LedgerConnection(path: files.databaseName, readOnly: true, setUp: limits.readerSetUp)
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
        if let header = header(of: files.log, files.disk), header == self.header(of: target, files.disk) {
            return .copied(path: target)
        }
        if let available = files.availableBytes, available < bytes + sparedBytes {
            return failed("it has \(bytes) bytes, and \(available) are free")
        }
        let part = target + ".part"
        do throws(LedgerError) {
            do throws(ErrorNumber) {
                try copy(files.log, to: part, files.disk)
                try files.disk.rename(part, to: target)
            } catch {
                throw LedgerError(error, doing: "copy \(files.log) to \(target)")
            }
            try files.synchronizeDirectory()
            return .copied(path: target)
        } catch {
            try? files.disk.remove(part)
            return failed(error.description)
        }
    }

    private static func copy(_ source: String, to target: String, _ disk: any LedgerDisk) throws(ErrorNumber) {
        let input = try disk.open(source, O_RDONLY)
        defer { disk.close(input) }
        let output = try disk.open(target, O_WRONLY | O_CREAT | O_TRUNC)
        defer { disk.close(output) }
        var offset = 0
        while true {
            var rest = try disk.read(input, bufferBytes, at: offset)
            if rest.isEmpty { break }
            while !rest.isEmpty {
                let written = try disk.write(output, rest, at: offset)
                guard written > 0 else { throw ErrorNumber(EIO) }
                rest.removeFirst(written)
                offset += written
            }
        }
        try disk.synchronize(output)
    }

    private static func header(of path: String, _ disk: any LedgerDisk) -> [UInt8]? {
        guard let descriptor = try? disk.open(path, O_RDONLY) else { return nil }
        defer { disk.close(descriptor) }
        let header = try? disk.read(descriptor, headerBytes, at: 0)
        return header?.count == headerBytes ? header : nil
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
