// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A total that only increases and has fractions, such as seconds spent; it saturates at the largest finite number.
public final class FractionalCounter: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    private let total = AtomicDouble(0)
    private let birth: Atomic<Int64>
    private let exemplars = ExemplarStore()
    private let ignoredValues: Counter?

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        birth = Atomic(seed.created)
        ignoredValues = seed.ignoredValues
    }

    /// Adds `amount`. Negative, infinite and NaN amounts are ignored and counted by the registry.
    public func add(_ amount: Double) {
        guard amount >= 0, amount.isFinite else {
            ignoredValues?.add()
            return
        }
        total.add(toTotal: amount)
    }

    /// Adds `amount` and keeps `exemplar` as the latest one; ignores both if `add(_:)` ignores the amount.
    public func add(_ amount: Double, exemplar: Exemplar) {
        add(amount)
        if amount >= 0, amount.isFinite { attach(exemplar) }
    }

    /// Keeps `exemplar` as the latest one and adds nothing, for totals that are kept elsewhere.
    public func attach(_ exemplar: Exemplar) {
        exemplars.keep(exemplar, at: 0, of: 1)
    }

    /// Raises the total to one that is kept elsewhere, such as the CPU time that the kernel reports.
    ///
    /// A lower one changes nothing. Infinite and NaN totals are ignored and counted by the registry.
    public func raise(to value: Double) {
        guard value.isFinite else {
            ignoredValues?.add()
            return
        }
        total.raise(to: value)
    }

    /// The total so far.
    public var value: Double {
        total.value
    }

    /// When the counter began at zero, in microseconds since 1970.
    public var created: Int64 {
        birth.load(ordering: .relaxed)
    }

    /// Continues a counter of an earlier process: raises the total to `value` if it is lower, and adopts the creation
    /// time (microseconds since 1970), if given.
    public func restore(to value: Double, created: Int64? = nil) {
        raise(to: value)
        if let created { birth.store(created, ordering: .relaxed) }
    }
}

extension FractionalCounter: Instrument {
    static var kind: MetricKind { .counter }

    static func copy(_ members: Span<FractionalCounter>, into words: inout MutableSpan<UInt64>, from start: Int) {
        for index in members.indices { words[start + index] = members[index].total.pattern }
    }

    static func copyExemplars(_ members: Span<FractionalCounter>, into exemplars: inout ScrapedExemplars) {
        for index in members.indices where members[index].exemplars.isUsed {
            members[index].exemplars.copy(series: index, into: &exemplars)
        }
    }
}
