// SPDX-License-Identifier: Apache-2.0

/// A value that rises and falls.
public final class Gauge: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    /// Microseconds since 1970 at which the series began.
    public let created: Int64
    @usableFromInline let current = AtomicDouble(0)

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        created = seed.created
    }

    /// Replaces the value.
    @inlinable
    public func set(_ value: Double) {
        current.store(value)
    }

    /// Replaces the value by a whole number; past 2^53 the nearest double.
    @inlinable
    public func set(_ value: some BinaryInteger) {
        current.store(Double(value))
    }

    /// Adds `amount`, which may be negative.
    @inlinable
    public func add(_ amount: Double) {
        current.add(amount)
    }

    func raise(to value: Double) {
        current.raise(to: value)
    }

    /// The value now.
    @inlinable public var value: Double {
        current.value
    }
}

extension Gauge: Instrument {
    static var kind: MetricKind { .gauge }

    static func copy(_ members: Span<Gauge>, into words: inout MutableSpan<UInt64>, from start: Int) {
        for index in members.indices { words[start + index] = members[index].current.pattern }
    }
}
