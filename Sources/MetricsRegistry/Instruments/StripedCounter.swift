// SPDX-License-Identifier: Apache-2.0

public import Synchronization

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
