// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The exclusive lock of a ledger's directory, held for the lifetime of this object.
///
/// It is flock(2) on a file that stays; it ends with the process, however that ends. The file holds the process id of the
/// holder, for the error of a second one.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock of `directory`, or throws an error that names the holder.
    init(directory: String) throws(LedgerError) {
        let path = LedgerFiles(directory: directory).lock
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw LedgerError(errno: errno, doing: "open \(path)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = Self.readHolder(descriptor)
            _ = Glibc.close(descriptor)
            if code == EWOULDBLOCK { throw LedgerError.locked(directory: directory, holder: holder) }
            throw LedgerError(errno: code, doing: "lock \(path)")
        }
        self.descriptor = descriptor
        writeHolder()
    }

    /// Unlocks before it closes, because a child between fork and exec still has a copy of the descriptor.
    deinit {
        _ = flock(descriptor, LOCK_UN)
        _ = Glibc.close(descriptor)
    }

    /// Records the process id. On a full disk the file stays empty; the lock does not depend on it.
    private func writeHolder() {
        let line = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe line.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    private static func readHolder(_ descriptor: Int32) -> Int32? {
        var line = [UInt8](repeating: 0, count: 16)
        let count = unsafe line.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        return Int32(String(decoding: line[..<count].prefix(while: { $0 != 0x0A }), as: UTF8.self))
    }
}
