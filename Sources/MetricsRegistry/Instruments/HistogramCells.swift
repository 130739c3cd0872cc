// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The count of each bucket of a histogram and the sum of what was observed.
///
/// The first thread that observes has a block to itself. The others count in another one, until they are found to get into
/// each other's way all the time: from then on in up to eight blocks by the CPU that they run on. What finds its block
/// taken, and what comes in tallies, is added to words that all share. Each figure is the sum of all these.
///
/// That is 8 bytes for each bucket and 2 blocks, each of 16 bytes and 8 for each bucket in whole lines of 128, later at most
/// 10 blocks: 0.6 KB and then 2.7 KB with 15 bounds, 1.8 KB and then 6.9 KB with 63, and always 6.4 KB with 256.
@safe
struct HistogramCells: ~Copyable, @unchecked Sendable {
    /// The most blocks by CPUs, and the most buckets with which there are any.
    private static var maximumStripes: Int { 8 }
    private static var maximumStripedBuckets: Int { 64 }

    let count: Int
    private let blockWords: Int
    private let shared: AtomicCells
    private let sharedSum = AtomicDouble(0)
    private let writer = WritingThread()
    /// The block of the first thread, and that of the others.
    private let blocks: UnsafeMutablePointer<Atomic<UInt64>>
    private let stripes = unsafe Atomic<UnsafeMutablePointer<Atomic<UInt64>>?>(nil)
    private let stripeCount: Int
    private let contention = Contention()

    /// All zero.
    init(count: Int) {
        self.count = count
        blockWords = TallyBlock.wordCount(buckets: count)
        stripeCount = Self.stripeCount(buckets: count, processors: Stripe.count)
        shared = AtomicCells(count: count)
        unsafe blocks = TallyBlock.allocate(2, buckets: count)
    }

    deinit {
        unsafe TallyBlock.deallocate(blocks, 2, buckets: count)
        if let stripes = unsafe stripes.load(ordering: .acquiring) {
            unsafe TallyBlock.deallocate(stripes, stripeCount, buckets: count)
        }
    }

    /// Blocks among which threads are divided where they collide, a power of two; 1 for none. `processors` is one too.
    static func stripeCount(buckets: Int, processors: Int) -> Int {
        buckets > maximumStripedBuckets ? 1 : min(processors, maximumStripes)
    }

    /// Bytes of all counts and sums now.
    var bytes: Int {
        let striped = unsafe stripes.load(ordering: .relaxed) == nil ? 0 : stripeCount
        return (count + (2 + striped) * blockWords) * MemoryLayout<UInt64>.stride
    }

    /// Counts a value in its bucket and adds it to the sum.
    @inline(__always)
    func observe(_ value: Double, bucket: Int) {
        precondition(bucket >= 0 && bucket < count)
        if writer.isCurrent() {
            unsafe TallyBlock.at(0, of: blocks, wordCount: blockWords).observeAlone(value, bucket: bucket)
        } else if !sharedBlock.observe(value, bucket: bucket) {
            observeShared(value, bucket: bucket)
        }
    }

    @inline(__always)
    private var sharedBlock: TallyBlock {
        if let stripes = unsafe stripes.load(ordering: .acquiring) {
            return unsafe TallyBlock.at(Stripe.current() & (stripeCount - 1), of: stripes, wordCount: blockWords)
        }
        return unsafe TallyBlock.at(1, of: blocks, wordCount: blockWords)
    }

    @inline(never)
    private func observeShared(_ value: Double, bucket: Int) {
        shared.add(1, at: bucket)
        sharedSum.add(toTotal: value)
        guard stripeCount > 1, unsafe stripes.load(ordering: .relaxed) == nil else { return }
        let block = unsafe TallyBlock.at(1, of: blocks, wordCount: blockWords)
        let isFrequent = contention.isFrequent { (0..<count).reduce(0) { $0 &+ block.count(inBucket: $1) } }
        if isFrequent { split() }
    }

    /// Makes the blocks by CPUs, unless another thread has.
    private func split() {
        let made = unsafe TallyBlock.allocate(stripeCount, buckets: count)
        let outcome = unsafe stripes.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if unsafe !outcome.exchanged { unsafe TallyBlock.deallocate(made, stripeCount, buckets: count) }
    }

    /// Adds to a bucket so that who reads it with an acquiring fence behind also sees what was stored before.
    @inline(__always)
    func addReleasing(_ amount: UInt64, at index: Int) {
        shared.addReleasing(amount, at: index)
    }

    /// Adds to the sum.
    @inline(__always)
    func add(sum: Double) {
        sharedSum.add(toTotal: sum)
    }

    /// Raises the count of a bucket to `value` if it is lower.
    func raise(to value: UInt64, at index: Int) {
        let striped = striped(index)
        shared.raise(to: value > striped ? value - striped : 0, at: index)
    }

    /// Raises the sum to `value` if it is lower.
    func raise(sum value: Double) {
        sharedSum.raise(to: value.addingUpToFinite(-stripedSum))
    }

    /// Replaces the sum, while nothing has been observed.
    func store(sum: Double) {
        sharedSum.store(sum)
    }

    /// The count of a bucket.
    func load(_ index: Int) -> UInt64 {
        shared.load(index) &+ striped(index)
    }

    /// The sum.
    var sum: Double {
        let striped = stripedSum
        return striped == 0 ? sharedSum.value : sharedSum.value.addingUpToFinite(striped)
    }

    private func striped(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return reduceBlocks(0) { $0 &+ $1.count(inBucket: index) }
    }

    private var stripedSum: Double {
        reduceBlocks(0) { $0.addingUpToFinite($1.sum) }
    }

    @inline(__always)
    private func reduceBlocks<Result>(_ initial: Result, _ next: (Result, TallyBlock) -> Result) -> Result {
        var result = next(initial, unsafe TallyBlock.at(0, of: blocks, wordCount: blockWords))
        result = next(result, unsafe TallyBlock.at(1, of: blocks, wordCount: blockWords))
        if let stripes = unsafe stripes.load(ordering: .acquiring) {
            for index in 0..<stripeCount {
                result = next(result, unsafe TallyBlock.at(index, of: stripes, wordCount: blockWords))
            }
        }
        return result
    }
}

/// A place in which one thread at a time counts a histogram's observations: a lock, the sum, and a count for each bucket,
/// on cache lines of their own.
///
/// Who has the lock adds with plain loads and stores, so an observation costs one atomic read-modify-write instead of
/// two. Nobody waits for the lock: who doesn't get it counts elsewhere. Readers take no lock.
@safe
struct TallyBlock: @unchecked Sendable {
    private static var lineWords: Int { 16 }
    private static var lock: Int { 0 }
    private static var sum: Int { 1 }
    private static var buckets: Int { 2 }

    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    private init(_ words: UnsafeMutablePointer<Atomic<UInt64>>) {
        unsafe self.words = unsafe words
    }

    /// The words of a block, in whole lines of 128 bytes.
    static func wordCount(buckets: Int) -> Int {
        (Self.buckets + buckets + lineWords - 1) / lineWords * lineWords
    }

    /// Memory for so many blocks, all zero.
    static func allocate(_ blocks: Int, buckets: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        let count = blocks * wordCount(buckets: buckets)
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<Atomic<UInt64>>.stride,
            alignment: lineWords * MemoryLayout<Atomic<UInt64>>.stride
        )
        let words = unsafe room.bindMemory(to: Atomic<UInt64>.self, capacity: count)
        for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
        return unsafe words
    }

    static func deallocate(_ words: UnsafeMutablePointer<Atomic<UInt64>>, _ blocks: Int, buckets: Int) {
        unsafe words.deinitialize(count: blocks * wordCount(buckets: buckets))
        unsafe UnsafeMutableRawPointer(words).deallocate()
    }

    /// The block at that place of what `allocate(_:buckets:)` gave.
    @inline(__always)
    static func at(_ index: Int, of words: UnsafeMutablePointer<Atomic<UInt64>>, wordCount: Int) -> TallyBlock {
        unsafe TallyBlock(words + index * wordCount)
    }

    /// Counts a value, unless another thread is counting here; false then. The bucket must be one of the block's.
    @inline(__always)
    func observe(_ value: Double, bucket: Int) -> Bool {
        let (locked, _) = unsafe words[Self.lock].compareExchange(expected: 0, desired: 1, ordering: .acquiring)
        guard locked else { return false }
        observeAlone(value, bucket: bucket)
        unsafe words[Self.lock].store(0, ordering: .releasing)
        return true
    }

    /// Counts a value where no other thread ever does. The bucket must be one of the block's.
    @inline(__always)
    func observeAlone(_ value: Double, bucket: Int) {
        let count = unsafe words[Self.buckets + bucket].load(ordering: .relaxed)
        unsafe words[Self.buckets + bucket].store(count &+ 1, ordering: .relaxed)
        unsafe words[Self.sum].store(sum.addingUpToFinite(value).bitPattern, ordering: .relaxed)
    }

    @inline(__always) var sum: Double {
        unsafe Double(bitPattern: words[Self.sum].load(ordering: .relaxed))
    }

    @inline(__always)
    func count(inBucket bucket: Int) -> UInt64 {
        unsafe words[Self.buckets + bucket].load(ordering: .relaxed)
    }
}

/// A fixed number of atomic words side by side; an index outside them traps.
@safe
struct AtomicCells: ~Copyable, @unchecked Sendable {
    let count: Int
    private let cells: UnsafeMutablePointer<Atomic<UInt64>>

    /// All words zero.
    init(count: Int) {
        self.count = count
        unsafe cells = .allocate(capacity: count)
        for index in 0..<count {
            unsafe (cells + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        unsafe cells.deinitialize(count: count)
        unsafe cells.deallocate()
    }

    @inline(__always)
    func add(_ amount: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe cells[index].wrappingAdd(amount, ordering: .relaxed)
    }

    /// Adds so that who reads the sum with an acquiring fence behind also sees what was stored before.
    @inline(__always)
    func addReleasing(_ amount: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe cells[index].wrappingAdd(amount, ordering: .releasing)
    }

    /// Raises a word to `value` if it is lower; otherwise as `addReleasing`.
    func raise(to value: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe cells[index].raise(to: value, releasing: true)
    }

    func load(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return unsafe cells[index].load(ordering: .relaxed)
    }
}

/// Tells whether threads get into each other's way often, and not now and then over hours.
struct Contention: ~Copyable, Sendable {
    /// Collisions between two looks at how much was done meanwhile.
    private static var patience: UInt64 { 16 }
    /// Work for each collision from which on a collision is rare.
    private static var rarity: UInt64 { 256 }

    private let collisions = Atomic<UInt64>(0)
    private let seen = Atomic<UInt64>(0)

    init() {}

    /// Notes a collision; true when the latest came with little work between them. `work` gives all that was done so far,
    /// and is asked for rarely.
    func isFrequent(work: () -> UInt64) -> Bool {
        let (_, count) = collisions.wrappingAdd(1, ordering: .relaxed)
        if !count.isMultiple(of: Self.patience) { return false }
        let done = work()
        let before = seen.exchange(done, ordering: .relaxed)
        return done &- min(before, done) < Self.patience * Self.rarity
    }
}
