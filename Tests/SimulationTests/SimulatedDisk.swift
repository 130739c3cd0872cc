// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPrimitives

@testable import EventLedger

/// A disk in memory that fails, fills up, and at a loss of power keeps what a real one might have.
///
/// The kernel shows what was written at once; durable it is after a sync, of a name after a sync of the directory. At a
/// loss of power each write that was not synced is kept, dropped or torn sector by sector, and changes of names are kept
/// up to one of them, as a journaling file system does. A killed process loses nothing that it had written, but for the
/// end of the write that it was killed in.
///
/// A disk and all that uses it stay on one thread.
final class SimulatedDisk: LedgerDisk, @unchecked Sendable {
    /// What the disk is asked to do.
    enum Operation: UInt64 {
        case open = 1, read, write, synchronize, resize, allocate, rename, remove, index
    }

    let vfs: String? = SimulatedVFS.name
    let directory: String
    var rates = DiskFaultRates()
    /// Draws faults, and what a crash keeps; set anew for each step, so that a step does the same whatever ran before it.
    var random = SplitMix64(seed: 0)
    var trace = TraceHash()
    var counts = DiskCounts()
    /// What is done to the disk on purpose (``PlantedFault``).
    var plant: PlantedFault?
    /// Called after each sync of a file that succeeded.
    var onSync: ((String) -> Void)?

    let totalBytes: Int
    /// What other programs hold of it.
    var fillerBytes = 0

    /// A process that is gone has handles of an earlier run, which do nothing any more.
    private(set) var run = 0
    /// Whether the process or the machine is down: nothing is done until ``restart()``.
    private(set) var isDown = false
    /// After how many more operations it goes down; nil for not at all.
    var operationsUntilCrash: Int?
    /// After how many more operations one fails; nil for none.
    var operationsUntilFailure: Int?

    private var names: [String: DiskFile] = [:]
    private var durableNames: [String: DiskFile] = [:]
    private var nameChanges: [[(path: String, file: DiskFile?)]] = []
    private var files = 0
    private var descriptors: [Int32: DiskHandle] = [:]
    private var nextDescriptor: Int32 = 1_000

    init(totalBytes: Int) {
        self.totalBytes = totalBytes
        directory = SimulatedVFS.directory()
        SimulatedVFS.attach(self)
    }

    /// Gives back the disk's place among those that SQLite finds.
    func detach() { SimulatedVFS.detach(self) }

    // MARK: Faults

    /// Counts an operation; throws where it fails or the process is gone.
    func admit(_ operation: Operation, _ file: DiskFile?, run: Int, place: Int = 0, count: Int = 0) throws(ErrorNumber)
    {
        guard run == self.run, !isDown else { throw ErrorNumber(EIO) }
        counts.operations += 1
        trace.mix(operation.rawValue, UInt64(file?.number ?? 0), UInt64(bitPattern: Int64(place)), UInt64(count))
        if let left = operationsUntilCrash {
            guard left > 0 else {
                goDown()
                if operation == .write, let file { tear(file, at: place, count: count) }
                throw ErrorNumber(EIO)
            }
            operationsUntilCrash = left - 1
        }
        if let left = operationsUntilFailure {
            operationsUntilFailure = left > 0 ? left - 1 : nil
            if left == 0 { throw ErrorNumber(EIO) }
        }
        if let code = rates.failure(of: operation, &random) {
            counts.faults += 1
            trace.mix(0xFA, UInt64(code))
            throw ErrorNumber(code)
        }
    }

    /// The bytes of the write during which the process was killed; what of them reaches the file is drawn.
    var interrupted: [UInt8] = []

    private func tear(_ file: DiskFile, at place: Int, count: Int) {
        let sectors = (count + DiskFile.sector - 1) / DiskFile.sector
        let kept = min(count, Int.random(in: 0...sectors, using: &random) * DiskFile.sector)
        guard kept > 0, interrupted.count == count else { return }
        counts.tornWrites += kept < count ? 1 : 0
        file.write(Array(interrupted[..<kept]), at: place)
    }

    func goDown() {
        isDown = true
        operationsUntilCrash = nil
    }

    /// Ends the process that has files open, and starts the next one with what is kept.
    ///
    /// - Parameter losesPower: whether what was not synced is kept only by chance.
    func restart(losesPower: Bool) {
        run += 1
        isDown = false
        operationsUntilCrash = nil
        descriptors = [:]
        if losesPower { losePower() }
        for file in names.values { file.unlock() }
    }

    private func losePower() {
        // A cut keeps all that waits, nothing, or each change by chance.
        let keep = [0, 10, 50, 90, 100].randomElement(using: &random) ?? 50
        let kept = nameChanges.isEmpty ? 0 : Int.random(in: 0...nameChanges.count, using: &random)
        for changes in nameChanges[..<kept] {
            for (path, file) in changes { durableNames[path] = file }
        }
        nameChanges = []
        names = durableNames
        for file in Set(names.values).sorted(by: { $0.number < $1.number }) {
            counts.tornWrites += file.losePower(keepingPercent: keep, &random)
            trace.mix(0x10, UInt64(file.number), UInt64(file.size), UInt64(file.bytes.count))
        }
    }

    // MARK: Names and space

    func file(_ path: String) -> DiskFile? { names[path] }

    func create(_ path: String) -> DiskFile {
        files += 1
        let file = DiskFile(number: files, path: path)
        change([(path, file)])
        return file
    }

    private func change(_ changes: [(path: String, file: DiskFile?)]) {
        for (path, file) in changes { names[path] = file }
        nameChanges.append(changes)
    }

    func removeName(_ path: String) { change([(path, nil)]) }

    func synchronizeNames() {
        nameChanges = []
        durableNames = names
    }

    var usedBytes: Int { names.values.reduce(fillerBytes) { $0 + max($1.size, $1.allocated) } }

    /// Throws where a file cannot grow to a size.
    func reserve(_ file: DiskFile, upTo size: Int) throws(ErrorNumber) {
        let held = max(file.size, file.allocated)
        guard size > held else { return }
        guard usedBytes + size - held <= totalBytes else { throw ErrorNumber(ENOSPC) }
    }

    // MARK: Files as SQLite and the ledger use them

    func read(_ handle: DiskHandle, _ count: Int, at place: Int) throws(ErrorNumber) -> ArraySlice<UInt8> {
        try admit(.read, handle.file, run: handle.run, place: place, count: count)
        return handle.file.read(count, at: place)
    }

    func write(_ handle: DiskHandle, _ bytes: [UInt8], at place: Int) throws(ErrorNumber) {
        interrupted = bytes
        try admit(.write, handle.file, run: handle.run, place: place, count: bytes.count)
        try reserve(handle.file, upTo: place + bytes.count)
        if bytes.count > DiskFile.sector, rates.cutsShort(&random) {
            counts.faults += 1
            handle.file.write(Array(bytes[..<(bytes.count / DiskFile.sector / 2 * DiskFile.sector)]), at: place)
            throw ErrorNumber(ENOSPC)
        }
        handle.file.write(bytes, at: place)
    }

    func synchronize(_ handle: DiskHandle) throws(ErrorNumber) {
        try admit(.synchronize, handle.file, run: handle.run)
        counts.syncs += 1
        if plant == .syncThatLies, handle.file.path.hasSuffix("-wal") { return }
        handle.file.synchronize()
        onSync?(handle.file.path)
    }

    func resize(_ handle: DiskHandle, to size: Int) throws(ErrorNumber) {
        try admit(.resize, handle.file, run: handle.run, count: size)
        try reserve(handle.file, upTo: size)
        handle.file.resize(size)
    }
}

// MARK: The files beside the database

extension SimulatedDisk {
    func makeDirectory(_ path: String) throws(ErrorNumber) { throw ErrorNumber(EEXIST) }

    func open(_ path: String, _ flags: Int32) throws(ErrorNumber) -> Int32 {
        try admit(.open, names[path], run: run)
        guard path != directory else { return add(DiskHandle(DiskFile(number: 0, path: path), run: run)) }
        guard let found = names[path] ?? (flags & O_CREAT != 0 ? create(path) : nil) else { throw ErrorNumber(ENOENT) }
        if flags & O_TRUNC != 0 { found.resize(0) }
        return add(DiskHandle(found, run: run))
    }

    private func add(_ handle: DiskHandle) -> Int32 {
        nextDescriptor += 1
        descriptors[nextDescriptor] = handle
        return nextDescriptor
    }

    private func handle(_ descriptor: Int32) throws(ErrorNumber) -> DiskHandle {
        guard let handle = descriptors[descriptor] else { throw ErrorNumber(EBADF) }
        return handle
    }

    func close(_ descriptor: Int32) { descriptors[descriptor] = nil }

    func protect(_ descriptor: Int32) throws(ErrorNumber) { _ = try handle(descriptor) }

    func lock(_ descriptor: Int32) throws(ErrorNumber) {
        let handle = try handle(descriptor)
        guard handle.file.owner == nil else { throw ErrorNumber(EWOULDBLOCK) }
        handle.file.owner = ObjectIdentifier(handle)
    }

    func unlock(_ descriptor: Int32) {
        guard let handle = descriptors[descriptor], handle.file.owner == ObjectIdentifier(handle) else { return }
        handle.file.owner = nil
    }

    func read(_ descriptor: Int32, _ count: Int, at offset: Int) throws(ErrorNumber) -> [UInt8] {
        Array(try read(handle(descriptor), count, at: offset))
    }

    func write(_ descriptor: Int32, _ bytes: [UInt8], at offset: Int) throws(ErrorNumber) -> Int {
        try write(handle(descriptor), bytes, at: offset)
        return bytes.count
    }

    func allocate(_ descriptor: Int32, _ range: Range<Int64>) throws(ErrorNumber) {
        let handle = try handle(descriptor)
        try admit(.allocate, handle.file, run: handle.run, count: Int(range.upperBound))
        try reserve(handle.file, upTo: Int(range.upperBound))
        handle.file.allocated = max(handle.file.allocated, Int(range.upperBound))
        if handle.file.size < Int(range.upperBound) { handle.file.resize(Int(range.upperBound)) }
    }

    func truncate(_ descriptor: Int32, to size: Int64) throws(ErrorNumber) {
        try resize(handle(descriptor), to: Int(size))
    }

    func synchronize(_ descriptor: Int32) throws(ErrorNumber) {
        let handle = try handle(descriptor)
        guard handle.file.path == directory else { return try synchronize(handle) }
        try admit(.synchronize, nil, run: handle.run)
        synchronizeNames()
    }

    func status(_ path: String, followsLinks: Bool) throws(ErrorNumber) -> DiskEntry? {
        guard !isDown else { throw ErrorNumber(EIO) }
        return names[path].map { DiskEntry(kind: .file, bytes: Int64($0.size)) }
    }

    func space(_ directory: String) -> (total: Int64, available: Int64)? {
        (Int64(totalBytes), Int64(max(0, totalBytes - usedBytes)))
    }

    func rename(_ path: String, to target: String) throws(ErrorNumber) {
        try admit(.rename, names[path], run: run)
        guard let file = names[path] else { throw ErrorNumber(ENOENT) }
        change([(target, file), (path, nil)])
    }

    func remove(_ path: String) throws(ErrorNumber) {
        try admit(.remove, names[path], run: run)
        guard names[path] != nil else { throw ErrorNumber(ENOENT) }
        removeName(path)
    }

    /// The names of the files, sorted.
    var listing: [String] { names.keys.sorted() }
}

/// How often what fails, in parts of 10,000 operations.
struct DiskFaultRates {
    var readError = 0
    var writeError = 0
    var writeFull = 0
    var shortWrite = 0
    var syncError = 0
    var nameError = 0
    var indexFull = 0

    static let none = DiskFaultRates()

    var isNone: Bool {
        [readError, writeError, writeFull, shortWrite, syncError, nameError, indexFull].allSatisfy { $0 == 0 }
    }

    /// Each is off for half of the seeds.
    init(_ random: inout SplitMix64) {
        func draw(_ most: Int, _ random: inout SplitMix64) -> Int {
            Bool.random(using: &random) ? 0 : Int.random(in: 1...most, using: &random)
        }
        readError = draw(20, &random)
        writeError = draw(100, &random)
        writeFull = draw(100, &random)
        shortWrite = draw(100, &random)
        syncError = draw(500, &random)
        nameError = draw(100, &random)
        indexFull = draw(200, &random)
    }

    init() {}

    func failure(of operation: SimulatedDisk.Operation, _ random: inout SplitMix64) -> Int32? {
        func happens(_ rate: Int, _ random: inout SplitMix64) -> Bool {
            rate > 0 && Int.random(in: 0..<10_000, using: &random) < rate
        }
        switch operation {
        case .read: return happens(readError, &random) ? EIO : nil
        case .write:
            if happens(writeError, &random) { return EIO }
            return happens(writeFull, &random) ? ENOSPC : nil
        case .synchronize: return happens(syncError, &random) ? EIO : nil
        case .open, .rename, .remove: return happens(nameError, &random) ? EIO : nil
        case .resize: return happens(writeError, &random) ? EIO : nil
        case .allocate: return happens(writeFull, &random) ? ENOSPC : nil
        case .index: return happens(indexFull, &random) ? ENOSPC : nil
        }
    }

    func cutsShort(_ random: inout SplitMix64) -> Bool {
        shortWrite > 0 && Int.random(in: 0..<10_000, using: &random) < shortWrite
    }
}

/// What happened on a disk.
struct DiskCounts {
    var operations = 0
    var syncs = 0
    var faults = 0
    var tornWrites = 0
}

/// A hash over what happens, by which two runs are known to be the same (FNV-1a over words).
struct TraceHash: Equatable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ words: UInt64...) {
        for word in words { value = (value ^ word) &* 0x0000_0100_0000_01B3 }
    }
}
