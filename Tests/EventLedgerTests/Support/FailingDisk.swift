// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Glibc
import Synchronization

/// A directory in which SQLite's writes fail as the test says, by a system call that stands in for pwrite(2)
/// (https://sqlite.org/c3ref/vfs.html, `xSetSystemCall`). Other directories' writes are what they were.
final class FailingDisk: Sendable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try Self.installed.get()
    }

    deinit { fail(with: nil) }

    /// Lets every write fail with an `errno` from now on; nil: none.
    func fail(with code: Int32?) {
        Self.codes.withLock { $0[directory.path] = code }
    }

    private static let codes = Mutex<[String: Int32]>([:])

    private static let installed = Result {
        guard let system = unsafe sqlite3_vfs_find(nil), let set = unsafe system.pointee.xSetSystemCall else {
            throw Program.Failure(what: "SQLite lets no system call be replaced", status: 0)
        }
        let call: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { descriptor, bytes, count, offset in
            if let code = FailingDisk.code(of: descriptor) {
                errno = code
                return -1
            }
            return unsafe pwrite(descriptor, bytes, count, offset)
        }
        for name in ["pwrite", "pwrite64"] {
            _ = unsafe set(system, name, unsafeBitCast(call, to: sqlite3_syscall_ptr.self))
        }
    }

    private static func code(of descriptor: Int32) -> Int32? {
        let codes = codes.withLock { $0 }
        guard !codes.isEmpty else { return nil }
        var path = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe path.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe readlink("/proc/self/fd/\(descriptor)", start, bytes.count)
        }
        guard count > 0 else { return nil }
        let text = String(decoding: path[..<count], as: UTF8.self)
        return codes.first { text.hasPrefix($0.key + "/") }?.value
    }
}
