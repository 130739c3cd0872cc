// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The count of each bucket of a histogram and the sum of the observations.
///
/// The first thread that observes has a block of its own. The others share a second one until they contend often; from
/// then on they use up to eight blocks, by CPU. Observations that find their block locked, and tallies of batches, are
/// added to shared words. Each figure is the sum of all of these.
///
/// A histogram takes 8 bytes per bucket and 2 blocks, each of 16 bytes and 8 per bucket in whole lines of 128, and at
/// most 10 blocks under contention: 0.6 KB and then 2.7 KB with 15 bounds, 1.8 KB and then 6.9 KB with 63, and always
/// 6.4 KB with 256.
@safe
struct HistogramCells: ~Copyable, @unchecked Sendable {
    /// The maximum number of blocks by CPU, and the maximum number of buckets with which there are any.
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

    /// The number of blocks by CPU under contention, a power of two as is `processors`; 1 for none.
    static func stripeCount(buckets: Int, processors: Int) -> Int {
        buckets > maximumStripedBuckets ? 1 : min(processors, maximumStripes)
    }

    /// The current bytes of all counts and sums.
    var bytes: Int {
        let striped = unsafe stripes.load(ordering: .relaxed) == nil ? 0 : stripeCount
        return (count + (2 + striped) * blockWords) * MemoryLayout<UInt64>.stride
    }

    /// Counts a value in its bucket and adds it to the sum.
    @inline(__always)
    func observe(_ value: Double, bucket: Int) {
        precondition(bucket >= 0 && bucket < count)
        if writer.claim() {
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
        let isFrequent = contention.recordCollision { (0..<count).reduce(0) { $0 &+ block.count(inBucket: $1) } }
        if isFrequent { split() }
    }

    /// Creates the blocks by CPU, unless another thread has.
    private func split() {
        let made = unsafe TallyBlock.allocate(stripeCount, buckets: count)
        let outcome = unsafe stripes.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if unsafe !outcome.exchanged { unsafe TallyBlock.deallocate(made, stripeCount, buckets: count) }
    }

    /// Adds to a bucket so that a reader of the count with an acquiring fence after it sees everything stored before.
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

/// A block in which one thread at a time counts observations: a lock, the sum, and a count per bucket, on its own
/// cache lines.
///
/// The holder of the lock adds with plain loads and stores, so an observation costs one atomic read-modify-write
/// instead of two. Nobody waits for the lock: a thread that does not get it counts elsewhere. Readers take no lock.
@safe
private struct TallyBlock: @unchecked Sendable {
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

    /// Allocates blocks, all zero.
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

    /// The block at `index` of what `allocate(_:buckets:)` returned.
    @inline(__always)
    static func at(_ index: Int, of words: UnsafeMutablePointer<Atomic<UInt64>>, wordCount: Int) -> TallyBlock {
        unsafe TallyBlock(words + index * wordCount)
    }

    /// Counts a value; false if another thread holds the block. The bucket must be in the block.
    @inline(__always)
    func observe(_ value: Double, bucket: Int) -> Bool {
        let (locked, _) = unsafe words[Self.lock].compareExchange(expected: 0, desired: 1, ordering: .acquiring)
        guard locked else { return false }
        observeAlone(value, bucket: bucket)
        unsafe words[Self.lock].store(0, ordering: .releasing)
        return true
    }

    /// Counts a value in a block that only the calling thread writes. The bucket must be in the block.
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
private struct AtomicCells: ~Copyable, @unchecked Sendable {
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

    /// Adds so that a reader of the sum with an acquiring fence after it sees everything stored before.
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

/// Detects whether threads contend often, rather than now and then over hours.
struct Contention: ~Copyable, Sendable {
    /// Collisions between two measurements of the work done.
    private static var patience: UInt64 { 16 }
    /// Operations per collision from which on collisions are rare.
    private static var rarity: UInt64 { 256 }

    private let collisions = Atomic<UInt64>(0)
    private let seen = Atomic<UInt64>(0)

    init() {}

    /// Records a collision; true if the latest ones came with little work between them.
    ///
    /// `work` returns the total work so far and is called rarely.
    @discardableResult
    func recordCollision(work: () -> UInt64) -> Bool {
        let (_, count) = collisions.wrappingAdd(1, ordering: .relaxed)
        if !count.isMultiple(of: Self.patience) { return false }
        let done = work()
        let before = seen.exchange(done, ordering: .relaxed)
        return done &- min(before, done) < Self.patience * Self.rarity
    }
}
