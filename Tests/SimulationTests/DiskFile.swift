// SPDX-License-Identifier: Apache-2.0

import SystemPrimitives

/// A file: what the kernel shows of it, what is durable, and what changed since.
final class DiskFile: Hashable {
    static let sector = 512

    private enum Change {
        case write([UInt8], at: Int)
        case resize(Int)
    }

    let number: Int
    let path: String
    /// Without the zeros at its end that were never written.
    private(set) var bytes: [UInt8] = []
    private(set) var size = 0
    /// What it holds of the disk beyond its size.
    var allocated = 0
    private var durable: (bytes: [UInt8], size: Int) = ([], 0)
    private var changes: [Change] = []

    /// Who holds the lock of flock(2).
    var owner: ObjectIdentifier?
    var locks = DatabaseLocks()
    /// The index of the write-ahead log, which the connections of a process share.
    var index: LogIndex?

    init(number: Int, path: String) {
        self.number = number
        self.path = path
    }

    static func == (left: DiskFile, right: DiskFile) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }

    func read(_ count: Int, at place: Int) -> ArraySlice<UInt8> {
        let end = min(place + count, size)
        guard place < end else { return [] }
        if end <= bytes.count { return bytes[place..<end] }
        let known = place < bytes.count ? Array(bytes[place...]) : []
        return (known + [UInt8](repeating: 0, count: end - place - known.count))[...]
    }

    func write(_ new: [UInt8], at place: Int) {
        Self.write(new, at: place, to: &bytes)
        size = max(size, place + new.count)
        changes.append(.write(new, at: place))
    }

    func resize(_ new: Int) {
        Self.resize(new, &bytes)
        if new < size { allocated = min(allocated, new) }
        size = new
        changes.append(.resize(new))
    }

    private static func write(_ new: [UInt8], at place: Int, to bytes: inout [UInt8]) {
        if bytes.count < place { bytes.append(contentsOf: repeatElement(0, count: place - bytes.count)) }
        let overlap = min(new.count, bytes.count - place)
        bytes.replaceSubrange(place..<place + overlap, with: new[..<overlap])
        if overlap < new.count { bytes.append(contentsOf: new[overlap...]) }
    }

    private static func resize(_ size: Int, _ bytes: inout [UInt8]) {
        if size < bytes.count { bytes.removeLast(bytes.count - size) }
    }

    func synchronize() {
        for change in changes {
            switch change {
            case .write(let new, let place): Self.write(new, at: place, to: &durable.bytes)
            case .resize(let size): Self.resize(size, &durable.bytes)
            }
        }
        durable.size = size
        changes = []
    }

    /// Keeps what is durable, and of each change since what chance leaves of it; returns how many writes were torn.
    func losePower(keepingPercent keep: Int, _ random: inout SplitMix64) -> Int {
        var torn = 0
        var (kept, size) = durable
        for change in changes {
            switch change {
            case .resize(let new):
                guard Int.random(in: 0..<100, using: &random) < keep else { continue }
                Self.resize(new, &kept)
                size = new
            case .write(let new, let place):
                var start = 0
                var lost = 0
                while start < new.count {
                    let end = min(new.count, (place + start) / Self.sector * Self.sector + Self.sector - place)
                    if Int.random(in: 0..<100, using: &random) < keep {
                        Self.write(Array(new[start..<end]), at: place + start, to: &kept)
                        size = max(size, place + end)
                    } else {
                        lost += 1
                    }
                    start = end
                }
                if lost > 0, lost * Self.sector < new.count { torn += 1 }
            }
        }
        (bytes, self.size) = (kept, size)
        durable = (kept, size)
        changes = []
        allocated = min(allocated, size)
        return torn
    }

    /// Drops what belonged to a process that is gone.
    func unlock() {
        owner = nil
        locks = DatabaseLocks()
        index = nil
    }
}

/// An open file of one process.
final class DiskHandle {
    let file: DiskFile
    let run: Int
    var level: Int32 = 0
    var index: LogIndex?
    var sharedSlots: UInt16 = 0
    var exclusiveSlots: UInt16 = 0
    /// Whether its name is to be made durable with its content, as SQLite's own VFS does for logs and journals.
    var hasNewName = false
    var isRemovedAtEnd = false
    /// It takes no lock for writing, as a descriptor that is open for reading alone.
    var isReadOnly = false

    init(_ file: DiskFile, run: Int) {
        self.file = file
        self.run = run
    }
}
