// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Changes that a page shows together or not at all.
///
/// They are collected here and stored, in order, after the body of `MetricsRegistry.update(_:)` returns. Nothing waits
/// in the meantime, however long the body takes.
public struct MetricsUpdate: ~Copyable {
    enum Change: Sendable {
        case add(Counter, UInt64)
        case addStriped(StripedCounter, UInt64)
        case raise(Counter, to: UInt64, created: Int64?)
        case addFraction(FractionalCounter, Double)
        case raiseFraction(FractionalCounter, to: Double, created: Int64?)
        case set(Gauge, Double)
        case addGauge(Gauge, Double)
        case raiseGauge(Gauge, to: Double)
        case observe(Histogram, Double)
        case merge(Histogram, counts: Range<Int>, sum: Double)
        case restore(Histogram, counts: Range<Int>, sum: Double, created: Int64?)
    }

    /// Buffers reused by the next update.
    struct Memory: Sendable {
        var changes: [Change] = []
        var counts: [UInt64] = []
    }

    private var changes: [Change]
    private var counts: [UInt64]

    init(in memory: consuming Memory) {
        changes = memory.changes
        counts = memory.counts
    }

    /// Adds to a counter, as `Counter.add(_:)` does.
    public mutating func add(_ amount: UInt64 = 1, to counter: Counter) {
        changes.append(.add(counter, amount))
    }

    /// Adds to a striped counter, as `StripedCounter.add(_:)` does.
    public mutating func add(_ amount: UInt64 = 1, to counter: StripedCounter) {
        changes.append(.addStriped(counter, amount))
    }

    /// Raises a counter to a total from elsewhere, as `Counter.restore(to:created:)` does.
    public mutating func raise(_ counter: Counter, to total: UInt64, created: Int64? = nil) {
        changes.append(.raise(counter, to: total, created: created))
    }

    /// Adds to a counter of fractions, as `FractionalCounter.add(_:)` does.
    public mutating func add(_ amount: Double, to counter: FractionalCounter) {
        changes.append(.addFraction(counter, amount))
    }

    /// Raises a fractional counter to a total from elsewhere, as `FractionalCounter.restore(to:created:)` does.
    public mutating func raise(_ counter: FractionalCounter, to total: Double, created: Int64? = nil) {
        changes.append(.raiseFraction(counter, to: total, created: created))
    }

    /// Sets a gauge.
    public mutating func set(_ gauge: Gauge, to value: Double) {
        changes.append(.set(gauge, value))
    }

    /// Sets a gauge to a whole number; beyond 2^53 to the nearest double.
    public mutating func set(_ gauge: Gauge, to value: some BinaryInteger) {
        changes.append(.set(gauge, Double(value)))
    }

    /// Adds to a gauge, as `Gauge.add(_:)` does; the amount may be negative.
    public mutating func add(_ amount: Double, to gauge: Gauge) {
        changes.append(.addGauge(gauge, amount))
    }

    /// Sets a gauge to `value` if its value is lower.
    public mutating func raise(_ gauge: Gauge, to value: Double) {
        changes.append(.raiseGauge(gauge, to: value))
    }

    /// Counts a value into a histogram, as `Histogram.observe(_:)` does.
    public mutating func observe(_ value: Double, in histogram: Histogram) {
        changes.append(.observe(histogram, value))
    }

    /// Adds a batch's tally to a histogram, as `Histogram.merge(counts:sum:)` does.
    public mutating func merge(counts: [UInt64], sum: Double, into histogram: Histogram) throws(HistogramMismatch) {
        changes.append(.merge(histogram, counts: try append(counts, for: histogram), sum: sum))
    }

    /// Raises a histogram to totals from elsewhere, as `Histogram.restore(counts:sum:created:)` does.
    public mutating func restore(
        _ histogram: Histogram,
        counts: [UInt64],
        sum: Double,
        created: Int64? = nil
    ) throws(HistogramMismatch) {
        let counts = try append(counts, for: histogram)
        changes.append(.restore(histogram, counts: counts, sum: sum, created: created))
    }

    private mutating func append(_ counts: [UInt64], for histogram: Histogram) throws(HistogramMismatch) -> Range<Int> {
        try histogram.check(counts.count)
        let first = self.counts.count
        self.counts.append(contentsOf: counts)
        return first..<self.counts.count
    }

    var isEmpty: Bool { changes.isEmpty }

    /// Stores all changes; only atomic words are written.
    func store() {
        for change in changes {
            switch change {
            case .add(let counter, let amount): counter.add(amount)
            case .addStriped(let counter, let amount): counter.add(amount)
            case .raise(let counter, let total, let created): counter.restore(to: total, created: created)
            case .addFraction(let counter, let amount): counter.add(amount)
            case .raiseFraction(let counter, let total, let created): counter.restore(to: total, created: created)
            case .set(let gauge, let value): gauge.set(value)
            case .addGauge(let gauge, let amount): gauge.add(amount)
            case .observe(let histogram, let value): histogram.observe(value)
            case .raiseGauge(let gauge, let value): gauge.raise(to: value)
            case .merge(let histogram, let range, let sum):
                histogram.merge(checked: counts.span.extracting(range), sum: sum)
            case .restore(let histogram, let range, let sum, let created):
                histogram.restore(checked: counts.span.extracting(range), sum: sum, created: created)
            }
        }
    }

    /// Discards all changes and returns their buffers.
    consuming func finish() -> Memory {
        changes.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        return Memory(changes: changes, counts: counts)
    }
}

/// A sequence lock: what one write stores is read completely or not at all.
///
/// A writer never waits for a reader. A reader retries when a write overlapped; only after many retries does it block
/// writers while it copies. Neither runs user code in here.
struct UpdateSequence: ~Copyable, Sendable {
    /// Attempts of a reader before it blocks writers.
    private static var attempts: Int { 64 }

    private let writers = Mutex<Void>(())
    /// Odd during a write.
    private let sequence = Atomic<UInt64>(0)

    /// Runs `body`, which stores to atomic words only.
    func write(_ body: () -> Void) {
        writers.withLock { _ in
            sequence.wrappingAdd(1, ordering: .relaxed)
            atomicMemoryFence(ordering: .releasing)
            body()
            sequence.wrappingAdd(1, ordering: .releasing)
        }
    }

    /// Runs `body`, which copies atomic words, until no write overlapped it.
    func read(_ body: () -> Void) {
        for _ in 0..<Self.attempts {
            let before = sequence.load(ordering: .acquiring)
            if before & 1 == 1 {
                writers.withLock { _ in }
                continue
            }
            body()
            atomicMemoryFence(ordering: .acquiring)
            if sequence.load(ordering: .relaxed) == before { return }
        }
        writers.withLock { _ in body() }
    }
}
