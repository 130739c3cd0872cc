// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemPrimitives

/// The file `ledger.reserve`: space of the file system that no other program can take.
///
/// It is allocated and never written. It shrinks where the ledger's own upkeep finds no space, and grows again when there
/// is some. It stays when the ledger is closed, and after a kill, so that the next start finds the space too.
struct LedgerReserve: Sendable {
    /// What opening a ledger may take: the index of its log, the log's header and a migration.
    static let openingBytes: Int64 = 1 << 20

    /// The index of an empty log, which SQLite creates before it can read the database.
    static let minimumBytes: Int64 = 32 << 10

    /// The steps in which the file grows and shrinks.
    private static let grain: Int64 = 64 << 10

    private let path: String
    private let disk: any LedgerDisk
    private(set) var bytes: Int64
    /// Whether the file could not be opened the last time, for another reason than a lack of space.
    private(set) var isObstructed = false

    init(_ files: LedgerFiles) {
        path = files.reserve
        disk = files.disk
        bytes = (try? files.size(of: path)) ?? 0
    }

    /// Gives space back to the file system; false when there was none.
    mutating func release(_ count: Int64) -> Bool {
        guard bytes > 0 else { return false }
        let rest = bytes - count
        guard rest > 0, shrink(to: rest) else {
            try? disk.remove(path)
            bytes = 0
            return true
        }
        bytes = rest
        return true
    }

    private func shrink(to size: Int64) -> Bool {
        guard let descriptor = try? disk.open(path, O_WRONLY) else { return false }
        defer { disk.close(descriptor) }
        do throws(ErrorNumber) { try disk.truncate(descriptor, to: size) } catch { return false }
        return true
    }

    /// Grows or shrinks towards `target`, as far as `available` bytes of the file system allow.
    mutating func resize(to target: Int64, available: Int64, mayShrink: Bool = true) {
        let target = (max(target, Self.minimumBytes) + Self.grain - 1) / Self.grain * Self.grain
        if bytes > target + target / 4 {
            if mayShrink { _ = release(bytes - target) }
        } else if bytes < target {
            grow(to: available >= target - bytes ? target : bytes + max(0, available) / Self.grain * Self.grain)
        }
    }

    /// Allocates again what the file seems to have: a copy of it may have holes.
    mutating func verify() {
        guard bytes > 0 else { return }
        let size = bytes
        bytes = 0
        grow(to: size)
    }

    /// Half as much each time that there is less space than it seemed.
    private mutating func grow(to target: Int64) {
        isObstructed = false
        let descriptor: Int32
        do throws(ErrorNumber) {
            descriptor = try disk.open(path, O_WRONLY | O_CREAT)
        } catch {
            isObstructed = error.code != ENOSPC && error.code != EDQUOT
            return
        }
        defer { disk.close(descriptor) }
        var target = target
        while target > bytes {
            do throws(ErrorNumber) {
                try disk.allocate(descriptor, bytes..<target)
                bytes = target
                return
            } catch {
                try? disk.truncate(descriptor, to: bytes)
            }
            let half = (target - bytes) / 2
            guard half >= Self.minimumBytes else { break }
            target = bytes + half
        }
        if bytes == 0 { try? disk.remove(path) }
    }
}
