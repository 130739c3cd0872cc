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
