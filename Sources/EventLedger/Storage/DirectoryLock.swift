// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemPrimitives

/// The exclusive lock of a ledger's directory, held for the lifetime of this object.
///
/// It is flock(2) on a file that stays; it ends with the process, however that ends. The file holds the process id of the
/// holder, for the error of a second one.
final class DirectoryLock: Sendable {
    private let descriptor: Int32
    private let disk: any LedgerDisk

    /// Takes the lock of the files' directory, or throws an error that names the holder.
    init(_ files: LedgerFiles) throws(LedgerError) {
        let (path, disk) = (files.lock, files.disk)
        let descriptor: Int32
        do throws(ErrorNumber) {
            descriptor = try disk.open(path, O_RDWR | O_CREAT)
        } catch {
            throw LedgerError(error, doing: "open \(path)")
        }
        do throws(ErrorNumber) {
            try disk.lock(descriptor)
        } catch {
            let holder = Self.readHolder(descriptor, disk)
            disk.close(descriptor)
            if error.code == EWOULDBLOCK { throw LedgerError.locked(directory: files.directory, holder: holder) }
            throw LedgerError(error, doing: "lock \(path)")
        }
        self.descriptor = descriptor
        self.disk = disk
        writeHolder()
    }

    /// Unlocks before it closes, because a child between fork and exec still has a copy of the descriptor.
    deinit {
        disk.unlock(descriptor)
        disk.close(descriptor)
    }

    /// Records the process id. On a full disk the file stays empty; the lock does not depend on it.
    private func writeHolder() {
        try? disk.truncate(descriptor, to: 0)
        _ = try? disk.write(descriptor, Array("\(getpid())\n".utf8), at: 0)
    }

    private static func readHolder(_ descriptor: Int32, _ disk: any LedgerDisk) -> Int32? {
        guard let line = try? disk.read(descriptor, 16, at: 0), !line.isEmpty else { return nil }
        return Int32(String(decoding: line.prefix(while: { $0 != 0x0A }), as: UTF8.self))
    }
}
