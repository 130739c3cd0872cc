// SPDX-License-Identifier: Apache-2.0

/// A value that goes up and down.
public final class Gauge: Sendable {
    /// One value for each label name of the family, in their order.
    public let labelValues: [String]
    /// When the series began, in microseconds since 1970.
    public let created: Int64
    @usableFromInline let current = AtomicDouble(0)

    init(_ seed: InstrumentSeed) {
        labelValues = seed.labelValues
        created = seed.created
    }

    /// Sets the value.
    @inlinable
    public func set(_ value: Double) {
        current.store(value)
    }

    /// Sets the value to a whole number; beyond 2^53 to the nearest double.
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

    /// The current value.
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
