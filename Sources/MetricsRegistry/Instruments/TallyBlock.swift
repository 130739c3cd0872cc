// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
