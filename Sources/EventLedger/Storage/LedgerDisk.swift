// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemPrimitives

/// What a ledger asks of a disk: of SQLite's VFS for the database, and of the file system for the files beside it.
///
/// It is all that a ledger knows of a disk, so that a simulation can put one in its place that fails, tears and forgets.
protocol LedgerDisk: Sendable {
    /// The name of the VFS through which SQLite opens the database; nil for its default.
    var vfs: String? { get }

    /// Creates a directory with mode 0700.
    func makeDirectory(_ path: String) throws(ErrorNumber)
    /// Opens a file, creating it with mode 0600 where the flags say so; links are not followed.
    func open(_ path: String, _ flags: Int32) throws(ErrorNumber) -> Int32
    func close(_ descriptor: Int32)
    /// Sets the mode 0600.
    func protect(_ descriptor: Int32) throws(ErrorNumber)
    /// Takes an exclusive lock, or throws `EWOULDBLOCK`.
    func lock(_ descriptor: Int32) throws(ErrorNumber)
    func unlock(_ descriptor: Int32)
    /// Reads up to `count` bytes, fewer at the end.
    func read(_ descriptor: Int32, _ count: Int, at offset: Int) throws(ErrorNumber) -> [UInt8]
    /// Writes bytes; returns how many, which may be fewer.
    func write(_ descriptor: Int32, _ bytes: [UInt8], at offset: Int) throws(ErrorNumber) -> Int
    /// Allocates the space of a range, so that writing there lacks none.
    func allocate(_ descriptor: Int32, _ range: Range<Int64>) throws(ErrorNumber)
    func truncate(_ descriptor: Int32, to size: Int64) throws(ErrorNumber)
    /// Makes what was written durable; of a directory, its names.
    func synchronize(_ descriptor: Int32) throws(ErrorNumber)

    /// What is at a path; nil where nothing is.
    func status(_ path: String, followsLinks: Bool) throws(ErrorNumber) -> DiskEntry?
    /// The size of a directory's file system, and what unprivileged processes may still take of it; nil when unknown.
    func space(_ directory: String) -> (total: Int64, available: Int64)?
    func rename(_ path: String, to target: String) throws(ErrorNumber)
    func remove(_ path: String) throws(ErrorNumber)
}

/// A file, a directory or something else on a disk.
struct DiskEntry: Sendable {
    enum Kind: Sendable { case file, directory, link, other }

    let kind: Kind
    let bytes: Int64
}

/// The machine's disks.
struct SystemDisk: LedgerDisk {
    var vfs: String? { nil }

    /// Throws the `errno` of a call that returned -1.
    private func check<Number: SignedInteger>(_ result: Number) throws(ErrorNumber) {
        guard result != -1 else { throw ErrorNumber(errno) }
    }

    func makeDirectory(_ path: String) throws(ErrorNumber) { try check(unsafe mkdir(path, 0o700)) }

    func open(_ path: String, _ flags: Int32) throws(ErrorNumber) -> Int32 {
        // A directory may be a link, as that of a unit with DynamicUser is.
        let own = flags & O_DIRECTORY == 0 ? O_NOFOLLOW : 0
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC | own, 0o600)
        try check(descriptor)
        return descriptor
    }

    func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    func protect(_ descriptor: Int32) throws(ErrorNumber) { try check(fchmod(descriptor, 0o600)) }

    func lock(_ descriptor: Int32) throws(ErrorNumber) { try check(flock(descriptor, LOCK_EX | LOCK_NB)) }

    func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

    func read(_ descriptor: Int32, _ count: Int, at offset: Int) throws(ErrorNumber) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, offset) }
        try check(found)
        bytes.removeLast(count - found)
        return bytes
    }

    func write(_ descriptor: Int32, _ bytes: [UInt8], at offset: Int) throws(ErrorNumber) -> Int {
        let written = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset) }
        try check(written)
        return written
    }

    func allocate(_ descriptor: Int32, _ range: Range<Int64>) throws(ErrorNumber) {
        let code = posix_fallocate(descriptor, off_t(range.lowerBound), off_t(range.count))
        guard code == 0 else { throw ErrorNumber(code) }
    }

    func truncate(_ descriptor: Int32, to size: Int64) throws(ErrorNumber) {
        try check(ftruncate(descriptor, off_t(size)))
    }

    func synchronize(_ descriptor: Int32) throws(ErrorNumber) { try check(fsync(descriptor)) }

    func status(_ path: String, followsLinks: Bool) throws(ErrorNumber) -> DiskEntry? {
        var status = stat()
        guard unsafe (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw ErrorNumber(code)
        }
        let kind: DiskEntry.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        return DiskEntry(kind: kind, bytes: Int64(status.st_size))
    }

    func space(_ directory: String) -> (total: Int64, available: Int64)? {
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else { return nil }
        func bytes(_ blocks: UInt64) -> Int64 {
            let (bytes, overflows) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflows ? .max : Int64(clamping: bytes)
        }
        return (bytes(UInt64(status.f_blocks)), bytes(UInt64(status.f_bavail)))
    }

    func rename(_ path: String, to target: String) throws(ErrorNumber) {
        try check(unsafe Glibc.rename(path, target))
    }

    func remove(_ path: String) throws(ErrorNumber) { try check(unsafe unlink(path)) }
}
