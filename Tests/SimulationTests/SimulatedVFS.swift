// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Glibc
import Synchronization
import SystemPrimitives

/// SQLite's way to a ``SimulatedDisk``: a VFS by the name of ``name`` (https://sqlite.org/vfs.html).
///
/// Locks and the index of the write-ahead log are in memory: they are those of the connections of one process.
enum SimulatedVFS {
    static let name = "dnp-simulated"

    private static let disks = Mutex<(next: Int, attached: [String: SimulatedDisk])>((0, [:]))

    /// A directory that no other disk has.
    static func directory() -> String {
        let number = disks.withLock { disks in
            disks.next += 1
            return disks.next
        }
        return "/simulated-\(number)"
    }

    static func attach(_ disk: SimulatedDisk) {
        _ = registered
        disks.withLock { $0.attached[disk.directory] = disk }
    }

    static func detach(_ disk: SimulatedDisk) { disks.withLock { $0.attached[disk.directory] = nil } }

    static func disk(of path: String) -> SimulatedDisk? {
        guard let end = path.dropFirst().firstIndex(of: "/") else { return nil }
        return disks.withLock { $0.attached[String(path[..<end])] }
    }

    private static let registered: Int32 = {
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe vfs.initialize(to: sqlite3_vfs())
        unsafe vfs.pointee.iVersion = 2
        unsafe vfs.pointee.szOsFile = Int32(MemoryLayout<OpenFile>.size)
        unsafe vfs.pointee.mxPathname = 512
        unsafe vfs.pointee.zName = UnsafePointer(strdup(name))
        unsafe vfs.pointee.xOpen = { unsafe SimulatedVFS.open($1, $2, $3, $4) }
        unsafe vfs.pointee.xDelete = { unsafe SimulatedVFS.delete($1, synchronizes: $2 != 0) }
        unsafe vfs.pointee.xAccess = { unsafe SimulatedVFS.access($1, $2, $3) }
        unsafe vfs.pointee.xFullPathname = { unsafe SimulatedVFS.fullPath($1, $2, $3) }
        unsafe vfs.pointee.xRandomness = { (_, count, bytes) in
            for index in 0..<Int(count) { unsafe bytes?[index] = CChar(truncatingIfNeeded: index &* 37) }
            return count
        }
        // No time passes while a connection waits for another one.
        unsafe vfs.pointee.xSleep = { $1 }
        unsafe vfs.pointee.xCurrentTime = { (_, days) in
            unsafe days?.pointee = 2_461_000
            return SQLITE_OK
        }
        unsafe vfs.pointee.xCurrentTimeInt64 = { (_, milliseconds) in
            unsafe milliseconds?.pointee = 2_461_000 * 86_400_000
            return SQLITE_OK
        }
        unsafe vfs.pointee.xGetLastError = { (_, _, _) in errno }
        return unsafe sqlite3_vfs_register(vfs, 0)
    }()

    // MARK: Names

    private static func text(_ path: UnsafePointer<CChar>?) -> String? {
        unsafe path.map { unsafe String(cString: $0) }
    }

    private static func open(
        _ path: UnsafePointer<CChar>?,
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file = unsafe file else { return SQLITE_MISUSE }
        unsafe file.pointee.pMethods = nil
        guard let path = unsafe text(path), let disk = disk(of: path) else { return SQLITE_CANTOPEN }
        do throws(ErrorNumber) {
            try disk.admit(.open, disk.file(path), run: disk.run)
        } catch {
            errno = error.code
            return SQLITE_CANTOPEN
        }
        let found = disk.file(path)
        guard found != nil || flags & SQLITE_OPEN_CREATE != 0 else { return SQLITE_CANTOPEN }
        let handle = DiskHandle(found ?? disk.create(path), run: disk.run)
        handle.hasNewName =
            flags & SQLITE_OPEN_CREATE != 0 && flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0
        handle.isReadOnly = flags & SQLITE_OPEN_READONLY != 0
        handle.isRemovedAtEnd = flags & SQLITE_OPEN_DELETEONCLOSE != 0
        unsafe OpenFile.begin(file, OpenFile.Content(disk, handle))
        unsafe outFlags?.pointee = flags
        return SQLITE_OK
    }

    private static func delete(_ path: UnsafePointer<CChar>?, synchronizes: Bool) -> Int32 {
        guard let path = unsafe text(path), let disk = disk(of: path) else { return ioError(10) }
        guard disk.file(path) != nil else { return ioError(23) }
        do throws(ErrorNumber) {
            try disk.remove(path)
        } catch {
            errno = error.code
            return ioError(10)
        }
        if synchronizes { disk.synchronizeNames() }
        return SQLITE_OK
    }

    /// An empty file counts as none, as in SQLite's own VFS.
    private static func access(
        _ path: UnsafePointer<CChar>?,
        _ flags: Int32,
        _ result: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let file = unsafe text(path).flatMap { disk(of: $0)?.file($0) }
        unsafe result?.pointee = (file?.size ?? 0) > 0 || (flags != SQLITE_ACCESS_EXISTS && file != nil) ? 1 : 0
        return SQLITE_OK
    }

    private static func fullPath(
        _ path: UnsafePointer<CChar>?,
        _ count: Int32,
        _ result: UnsafeMutablePointer<CChar>?
    ) -> Int32 {
        guard let path = unsafe path, let result = unsafe result, unsafe strlen(path) < Int(count) else {
            return SQLITE_CANTOPEN
        }
        unsafe strcpy(result, path)
        return SQLITE_OK
    }

    /// `SQLITE_IOERR` with its second byte (https://sqlite.org/rescode.html).
    static func ioError(_ kind: Int32) -> Int32 { SQLITE_IOERR | kind << 8 }
}

/// What SQLite allocates for a file: its own part, and a reference to ours.
@unsafe struct OpenFile {
    /// A file and its disk.
    final class Content {
        let disk: SimulatedDisk
        let handle: DiskHandle
        var lastError: Int32 = 0

        init(_ disk: SimulatedDisk, _ handle: DiskHandle) {
            self.disk = disk
            self.handle = handle
        }

        var isGone: Bool { disk.isDown || handle.run != disk.run }

        /// Runs a call; gives `SQLITE_OK`, or what it fails with by its `errno`.
        func attempt(_ failure: Int32, _ body: () throws(ErrorNumber) -> Void) -> Int32 {
            do throws(ErrorNumber) {
                try body()
                return SQLITE_OK
            } catch {
                lastError = error.code
                errno = error.code
                return failure == SimulatedVFS.ioError(3) && error.code == ENOSPC ? SQLITE_FULL : failure
            }
        }
    }

    var base: sqlite3_file
    var content: Unmanaged<Content>

    static func begin(_ file: UnsafeMutablePointer<sqlite3_file>, _ content: Content) {
        unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenFile.self)
            .initialize(to: OpenFile(base: sqlite3_file(pMethods: methods), content: .passRetained(content)))
    }

    private static func content(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Content? {
        guard let file = unsafe file else { return nil }
        return unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenFile.self).pointee.content
            .takeUnretainedValue()
    }

    // MARK: Methods

    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        unsafe methods.initialize(to: sqlite3_io_methods())
        unsafe methods.pointee.iVersion = 2
        unsafe methods.pointee.xClose = { unsafe OpenFile.close($0) }
        unsafe methods.pointee.xRead = { unsafe OpenFile.read($0, $1, Int($2), at: Int($3)) }
        unsafe methods.pointee.xWrite = { unsafe OpenFile.write($0, $1, Int($2), at: Int($3)) }
        unsafe methods.pointee.xTruncate = { (file, size) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            return content.attempt(SimulatedVFS.ioError(6)) { () throws(ErrorNumber) in
                try content.disk.resize(content.handle, to: Int(size))
            }
        }
        unsafe methods.pointee.xSync = { (file, _) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            return content.attempt(SimulatedVFS.ioError(4)) { () throws(ErrorNumber) in
                try content.disk.synchronize(content.handle)
                if content.handle.hasNewName {
                    content.disk.synchronizeNames()
                    content.handle.hasNewName = false
                }
            }
        }
        unsafe methods.pointee.xFileSize = { (file, size) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            unsafe size?.pointee = Int64(content.handle.file.size)
            return SQLITE_OK
        }
        unsafe methods.pointee.xLock = { (file, level) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            let mayLock = !content.handle.isReadOnly || level <= SQLITE_LOCK_SHARED
            guard !content.isGone, mayLock else { return SimulatedVFS.ioError(15) }
            return content.handle.file.locks.raise(content.handle, to: level) ? SQLITE_OK : SQLITE_BUSY
        }
        unsafe methods.pointee.xUnlock = { (file, level) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            if !content.isGone { content.handle.file.locks.lower(content.handle, to: level) }
            return SQLITE_OK
        }
        unsafe methods.pointee.xCheckReservedLock = { (file, result) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            unsafe result?.pointee = content.handle.file.locks.isReserved ? 1 : 0
            return SQLITE_OK
        }
        unsafe methods.pointee.xFileControl = { (file, operation, argument) in
            guard let content = unsafe OpenFile.content(file), operation == SQLITE_FCNTL_LAST_ERRNO else {
                return SQLITE_NOTFOUND
            }
            unsafe argument?.assumingMemoryBound(to: Int32.self).pointee = content.lastError
            return SQLITE_OK
        }
        unsafe methods.pointee.xSectorSize = { _ in 4_096 }
        // As SQLite's own VFS: a write leaves the bytes beside it alone at a loss of power.
        unsafe methods.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        unsafe methods.pointee.xShmMap = { unsafe OpenFile.mapIndex($0, Int($1), Int($2), extends: $3 != 0, $4) }
        unsafe methods.pointee.xShmLock = { unsafe OpenFile.lockIndex($0, Int($1), Int($2), $3) }
        unsafe methods.pointee.xShmBarrier = { _ in }
        unsafe methods.pointee.xShmUnmap = { (file, removes) in
            guard let content = unsafe OpenFile.content(file) else { return SQLITE_MISUSE }
            content.handle.index?.unlock(content.handle)
            content.handle.index = nil
            if removes != 0, !content.isGone { content.handle.file.index = nil }
            return SQLITE_OK
        }
        return unsafe UnsafePointer(methods)
    }()

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        guard let file = unsafe file, let content = unsafe content(file) else { return SQLITE_MISUSE }
        if !content.isGone {
            content.handle.file.locks.lower(content.handle, to: SQLITE_LOCK_NONE)
            if content.handle.isRemovedAtEnd { content.disk.removeName(content.handle.file.path) }
        }
        unsafe file.pointee.pMethods = nil
        unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenFile.self).pointee.content.release()
        return SQLITE_OK
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ buffer: UnsafeMutableRawPointer?,
        _ count: Int,
        at place: Int
    ) -> Int32 {
        guard let content = unsafe content(file), let buffer = unsafe buffer else { return SQLITE_MISUSE }
        var found = 0
        // `SQLITE_IOERR_CORRUPTFS`, as SQLite's own VFS says of EIO.
        let code = content.attempt(SimulatedVFS.ioError(33)) { () throws(ErrorNumber) in
            let bytes = try content.disk.read(content.handle, count, at: place)
            found = bytes.count
            unsafe bytes.withUnsafeBytes { source in
                if let start = source.baseAddress { unsafe buffer.copyMemory(from: start, byteCount: source.count) }
            }
        }
        guard code == SQLITE_OK, found < count else { return code }
        unsafe memset(buffer + found, 0, count - found)
        return SimulatedVFS.ioError(2)
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ buffer: UnsafeRawPointer?,
        _ count: Int,
        at place: Int
    ) -> Int32 {
        guard let content = unsafe content(file), let buffer = unsafe buffer else { return SQLITE_MISUSE }
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: buffer, count: count))
        return content.attempt(SimulatedVFS.ioError(3)) { () throws(ErrorNumber) in
            try content.disk.write(content.handle, bytes, at: place)
        }
    }

    // MARK: The index of the write-ahead log

    private static func mapIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ region: Int,
        _ bytes: Int,
        extends: Bool,
        _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        unsafe result?.pointee = nil
        guard let content = unsafe content(file) else { return SQLITE_MISUSE }
        guard !content.isGone else { return SimulatedVFS.ioError(20) }
        let index = content.handle.index ?? content.handle.file.index ?? LogIndex()
        content.handle.index = index
        content.handle.file.index = index
        if region >= index.count {
            guard extends else { return SQLITE_OK }
            let code = content.attempt(SimulatedVFS.ioError(19)) { () throws(ErrorNumber) in
                try content.disk.admit(.index, content.handle.file, run: content.handle.run, count: region)
            }
            guard code == SQLITE_OK else { return code }
        }
        unsafe result?.pointee = index.region(region, bytes: bytes)
        return SQLITE_OK
    }

    private static func lockIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ first: Int,
        _ count: Int,
        _ flags: Int32
    ) -> Int32 {
        guard let content = unsafe content(file), let index = content.handle.index else {
            return SimulatedVFS.ioError(20)
        }
        guard !content.isGone else { return flags & SQLITE_SHM_UNLOCK != 0 ? SQLITE_OK : SimulatedVFS.ioError(20) }
        let isDone = index.lock(
            content.handle,
            first..<first + count,
            unlocks: flags & SQLITE_SHM_UNLOCK != 0,
            isShared: flags & SQLITE_SHM_SHARED != 0
        )
        return isDone ? SQLITE_OK : SQLITE_BUSY
    }
}

/// The locks of a database file among the connections of one process (https://sqlite.org/lockingv3.html).
struct DatabaseLocks {
    private var shared: Set<ObjectIdentifier> = []
    private var reserved: ObjectIdentifier?
    private var exclusive: ObjectIdentifier?

    var isReserved: Bool { reserved != nil || exclusive != nil }

    mutating func raise(_ handle: DiskHandle, to level: Int32) -> Bool {
        let id = ObjectIdentifier(handle)
        guard level > handle.level else { return true }
        if let exclusive, exclusive != id { return false }
        if level >= SQLITE_LOCK_RESERVED, let reserved, reserved != id { return false }
        if level == SQLITE_LOCK_EXCLUSIVE, !shared.subtracting([id]).isEmpty { return false }
        shared.insert(id)
        if level >= SQLITE_LOCK_RESERVED { reserved = id }
        if level == SQLITE_LOCK_EXCLUSIVE { exclusive = id }
        handle.level = level
        return true
    }

    mutating func lower(_ handle: DiskHandle, to level: Int32) {
        let id = ObjectIdentifier(handle)
        if exclusive == id, level < SQLITE_LOCK_EXCLUSIVE { exclusive = nil }
        if reserved == id, level < SQLITE_LOCK_RESERVED { reserved = nil }
        if level == SQLITE_LOCK_NONE { shared.remove(id) }
        handle.level = min(handle.level, level)
    }
}

/// The index of a write-ahead log: memory that connections share, with eight locks.
@safe final class LogIndex {
    private var regions: [UnsafeMutableRawPointer] = unsafe []
    private var readers = [Int](repeating: 0, count: 8)
    private var writers = [ObjectIdentifier?](repeating: nil, count: 8)

    deinit { unsafe regions.forEach { unsafe $0.deallocate() } }

    var count: Int { unsafe regions.count }

    func region(_ number: Int, bytes: Int) -> UnsafeMutableRawPointer {
        while unsafe regions.count <= number {
            let region = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
            unsafe memset(region, 0, bytes)
            unsafe regions.append(region)
        }
        return unsafe regions[number]
    }

    func lock(_ handle: DiskHandle, _ slots: Range<Int>, unlocks: Bool, isShared: Bool) -> Bool {
        let id = ObjectIdentifier(handle)
        if unlocks {
            for slot in slots { release(slot, handle, id) }
            return true
        }
        for slot in slots {
            if let writer = writers[slot], writer != id { return false }
            let own = handle.sharedSlots & 1 << UInt16(slot) != 0 ? 1 : 0
            if !isShared, readers[slot] > own { return false }
        }
        for slot in slots {
            let bit = 1 << UInt16(slot) as UInt16
            if isShared {
                guard handle.sharedSlots & bit == 0 else { continue }
                handle.sharedSlots |= bit
                readers[slot] += 1
            } else {
                handle.exclusiveSlots |= bit
                writers[slot] = id
            }
        }
        return true
    }

    private func release(_ slot: Int, _ handle: DiskHandle, _ id: ObjectIdentifier) {
        let bit = 1 << UInt16(slot) as UInt16
        if handle.sharedSlots & bit != 0 {
            handle.sharedSlots &= ~bit
            readers[slot] -= 1
        }
        if writers[slot] == id { writers[slot] = nil }
        handle.exclusiveSlots &= ~bit
    }

    func unlock(_ handle: DiskHandle) {
        let id = ObjectIdentifier(handle)
        for slot in 0..<8 { release(slot, handle, id) }
    }
}
