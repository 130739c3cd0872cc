// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// A total of whole numbers that only increases.
///
/// Where several threads count all the time, `StripedCounter` keeps them apart.
public final class Counter: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    @usableFromInline let total = Atomic<UInt64>(0)
    private let birth: Atomic<Int64>
    private let exemplars = ExemplarStore()

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        birth = Atomic(seed.created)
    }

    /// Adds `amount`, saturating at the largest value. One atomic addition.
    @inlinable
    public func add(_ amount: UInt64 = 1) {
        let (_, sum) = total.wrappingAdd(amount, ordering: .relaxed)
        if sum < amount { total.store(.max, ordering: .relaxed) }
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
    @inlinable public var value: UInt64 { total.load(ordering: .relaxed) }

    /// When the counter began at zero, in microseconds since 1970.
    public var created: Int64 {
        birth.load(ordering: .relaxed)
    }

    /// Continues a counter of an earlier process: raises the total to `value` if it is lower, and adopts the creation
    /// time (microseconds since 1970), if given.
    public func restore(to value: UInt64, created: Int64? = nil) {
        total.raise(to: value)
        if let created { birth.store(created, ordering: .relaxed) }
    }
}

extension Counter: Instrument {
    static var kind: MetricKind { .counter }

    static func copy(_ members: Span<Counter>, into words: inout MutableSpan<UInt64>, from start: Int) {
        for index in members.indices { words[start + index] = members[index].value }
    }

    static func copyExemplars(_ members: Span<Counter>, into exemplars: inout ScrapedExemplars) {
        for index in members.indices where members[index].exemplars.isUsed {
            members[index].exemplars.copy(series: index, into: &exemplars)
        }
    }
}
