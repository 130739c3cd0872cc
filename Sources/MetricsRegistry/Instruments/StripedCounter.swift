// SPDX-License-Identifier: Apache-2.0

public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A total of whole numbers that only increases, for values that several threads count all the time.
///
/// Each CPU has a cell on its own cache line (128 bytes), so that additions do not contend; the total is the sum of
/// the cells. If one thread counts, or several rarely, `Counter` is faster and smaller.
public final class StripedCounter: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    @usableFromInline let cells = StripedCells()
    private let birth: Atomic<Int64>
    private let exemplars = ExemplarStore()

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        birth = Atomic(seed.created)
    }

    /// Adds `amount`, saturating at the largest value. One atomic addition.
    @inlinable
    public func add(_ amount: UInt64 = 1) {
        cells.withCell(ofStripe: Stripe.current()) { cell in
            let (_, sum) = cell.wrappingAdd(amount, ordering: .relaxed)
            if sum < amount { cell.store(.max, ordering: .relaxed) }
        }
    }

    /// Adds `amount` and keeps `exemplar` as the latest one.
    public func add(_ amount: UInt64 = 1, exemplar: Exemplar) {
        add(amount)
        attach(exemplar)
    }

    /// Keeps `exemplar` as the latest one and adds nothing, for totals that are kept elsewhere.
    public func attach(_ exemplar: Exemplar) {
        exemplars.keep(exemplar, at: 0, of: 1)
    }

    /// The total so far.
    public var value: UInt64 {
        cells.stripes.reduce(0) { total, stripe in
            total.addingWithoutOverflow(cells.withCell(ofStripe: stripe) { $0.load(ordering: .relaxed) })
        }
    }

    /// When the counter began at zero, in microseconds since 1970.
    public var created: Int64 {
        birth.load(ordering: .relaxed)
    }

    /// Continues a counter of an earlier process: raises the total to `value` if it is lower, and adopts the creation
    /// time (microseconds since 1970), if given.
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

/// Atomic words, one per stripe on its own cache line, initially zero.
///
/// 128 bytes, since x86 prefetches lines of 64 bytes in pairs and Apple CPUs have lines of 128.
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

    /// Calls `body` with the word of this stripe, modulo the number of stripes.
    @inlinable @inline(__always)
    func withCell<Result>(ofStripe stripe: Int, _ body: (borrowing Atomic<UInt64>) -> Result) -> Result {
        unsafe body(cells[(stripe & stripeMask) * Self.lineWords])
    }
}

/// Chooses the cell of a striped instrument for the calling thread.
@usableFromInline
enum Stripe {
    /// The maximum number of cells; with more CPUs, several share one.
    private static var limit: Int { 64 }

    /// The number of cells, a power of two: at least one for each CPU up to the limit.
    static let count: Int = {
        let processors = min(max(sysconf(Int32(_SC_NPROCESSORS_CONF)), 1), limit)
        return 1 << (Int.bitWidth - (processors - 1).leadingZeroBitCount)
    }()

    /// A number to take modulo `count`: the CPU if the C library has it at hand, otherwise derived from the address of
    /// the thread.
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
        /// sched_getcpu(3), which reads a word that the kernel keeps for each thread (rseq(2), glibc 2.35 and later).
        /// The header declares it only in GNU mode.
        private static let processor: (@convention(c) () -> CInt)? = {
            guard let address = unsafe dlsym(nil, "sched_getcpu") else { return nil }
            return unsafe unsafeBitCast(address, to: (@convention(c) () -> CInt).self)
        }()
    #endif
}
