// SPDX-License-Identifier: Apache-2.0

public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A total of whole things that only rises, for what several threads count all the time.
///
/// Each CPU has a cell on a cache line of its own (128 bytes), so that additions do not wait for each other; the total
/// is the sum of the cells. Where one thread counts, or seldom several do, `Counter` is faster and smaller.
public final class StripedCounter: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    @usableFromInline let cells = StripedCells()
    private let birth: Atomic<Int64>
    private let exemplars = ExemplarShelf()

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        birth = Atomic(seed.created)
    }

    /// Adds `amount`; at the largest value the counter stays there. One atomic addition.
    @inlinable
    public func add(_ amount: UInt64 = 1) {
        cells.withCell(ofStripe: Stripe.current()) { cell in
            let (_, sum) = cell.wrappingAdd(amount, ordering: .relaxed)
            if sum < amount { cell.store(.max, ordering: .relaxed) }
        }
    }

    /// Adds `amount`, and keeps `exemplar` in place of an earlier one.
    public func add(_ amount: UInt64 = 1, exemplar: Exemplar) {
        add(amount)
        attach(exemplar)
    }

    /// Keeps `exemplar` in place of an earlier one and adds nothing, for totals that are kept elsewhere.
    public func attach(_ exemplar: Exemplar) {
        exemplars.keep(exemplar, at: 0, of: 1)
    }

    /// The total so far.
    public var value: UInt64 {
        cells.stripes.reduce(0) { total, stripe in
            total.addingWithoutOverflow(cells.withCell(ofStripe: stripe) { $0.load(ordering: .relaxed) })
        }
    }

    /// Microseconds since 1970 at which the counter began at zero.
    public var created: Int64 {
        birth.load(ordering: .relaxed)
    }

    /// Continues a counter of an earlier process: raises the total to `value` if it is lower, and takes over the
    /// time at which it began (microseconds since 1970), if given.
    public func restore(to value: UInt64, created: Int64? = nil) {
        cells.withCell(ofStripe: 0) { first in
            var seen = first.load(ordering: .relaxed)
            while true {
                let others = cells.stripes.dropFirst().reduce(0 as UInt64) { total, stripe in
                    total.addingWithoutOverflow(cells.withCell(ofStripe: stripe) { $0.load(ordering: .relaxed) })
                }
                if seen.addingWithoutOverflow(others) >= value { return }
                let (exchanged, original) = first.compareExchange(
                    expected: seen,
                    desired: value - others,
                    ordering: .relaxed
                )
                if exchanged { return }
                seen = original
            }
        }
        if let created { birth.store(created, ordering: .relaxed) }
    }
}

extension StripedCounter: Instrument {
    static var kind: MetricKind { .counter }

    static func copy(_ members: Span<StripedCounter>, into words: inout MutableSpan<UInt64>, from start: Int) {
        for index in members.indices { words[start + index] = members[index].value }
    }

    static func copyExemplars(_ members: Span<StripedCounter>, into exemplars: inout ScrapedExemplars) {
        for index in members.indices { members[index].exemplars.copy(series: index, into: &exemplars) }
    }
}

extension UInt64 {
    /// The sum, or the largest value where that is smaller.
    fileprivate func addingWithoutOverflow(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// Atomic words in as many stripes as `Stripe` tells, each stripe on cache lines of its own, all zero at first.
///
/// 128 bytes, since x86 fetches lines of 64 by twos and Apple's CPUs have lines of 128.
@safe
@usableFromInline
struct StripedCells: ~Copyable, @unchecked Sendable {
    @inlinable static var lineWords: Int { 16 }

    @usableFromInline let stripeMask: Int
    @usableFromInline let cells: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        stripeMask = Stripe.count - 1
        let words = Stripe.count * Self.lineWords
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: words * MemoryLayout<Atomic<UInt64>>.stride,
            alignment: Self.lineWords * MemoryLayout<Atomic<UInt64>>.stride
        )
        unsafe cells = room.bindMemory(to: Atomic<UInt64>.self, capacity: words)
        for index in 0..<words { unsafe (cells + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe cells.deinitialize(count: (stripeMask + 1) * Self.lineWords)
        unsafe UnsafeMutableRawPointer(cells).deallocate()
    }

    var stripes: Range<Int> { 0..<stripeMask + 1 }

    /// Does `body` with the word of this stripe, or of the one that it is taken for.
    @inlinable @inline(__always)
    func withCell<Result>(ofStripe stripe: Int, _ body: (borrowing Atomic<UInt64>) -> Result) -> Result {
        unsafe body(cells[(stripe & stripeMask) * Self.lineWords])
    }
}

/// Which of its cells a striped instrument uses for the calling thread.
@usableFromInline
enum Stripe {
    /// The most cells of an instrument; past that many CPUs several share one.
    private static var limit: Int { 64 }

    /// The number of cells, a power of two: at least one for each CPU up to the limit.
    static let count: Int = {
        let processors = min(max(sysconf(Int32(_SC_NPROCESSORS_CONF)), 1), limit)
        return 1 << (Int.bitWidth - (processors - 1).leadingZeroBitCount)
    }()

    /// A number to be taken modulo `count`: that of the CPU where the C library has it at hand, elsewhere one made
    /// from the thread's address.
    @usableFromInline
    static func current() -> Int {
        #if canImport(Glibc)
            if let processor { return Int(processor()) }
            let thread = UInt(pthread_self())
        #else
            let thread = UInt(bitPattern: pthread_self())
        #endif
        return Int(truncatingIfNeeded: (thread >> 6 &* 0x9E37_79B9_7F4A_7C15) >> 48)
    }

    #if canImport(Glibc)
        /// sched_getcpu(3), which reads a word that the kernel keeps for each thread (rseq(2), glibc from 2.35 on).
        /// The header declares it only for GNU's dialect of C.
        private static let processor: (@convention(c) () -> CInt)? = {
            guard let address = unsafe dlsym(nil, "sched_getcpu") else { return nil }
            return unsafe unsafeBitCast(address, to: (@convention(c) () -> CInt).self)
        }()
    #endif
}
