// SPDX-License-Identifier: Apache-2.0

/// The instruments of one name, one for each combination of typed labels.
///
/// A lookup of known labels takes no lock and creates no label values; one of new labels creates a series. Beyond the
/// family's limit of series, with a value that is too long, or with the wrong number of values, a lookup returns the
/// overflow series, whose label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
public struct LabelSetFamily<Labels: LabelCombination, Instrument: AnyObject & Sendable>: Sendable {
    @usableFromInline let index: LabelIndex<Labels, Instrument>
    private let removeSeries: @Sendable ([String]) -> Bool
    private let removeAllSeries: @Sendable () -> Void

    init(
        _ index: LabelIndex<Labels, Instrument>,
        remove: @escaping @Sendable ([String]) -> Bool,
        removeAll: @escaping @Sendable () -> Void
    ) {
        self.index = index
        removeSeries = remove
        removeAllSeries = removeAll
    }

    /// The instrument of these labels.
    @inlinable
    public subscript(_ labels: Labels) -> Instrument {
        let hash = index.hash(labels)
        if let known = unsafe index.find(labels, hash: hash) { return unsafe known._withUnsafeGuaranteedRef { $0 } }
        return index.add(labels, hash: hash)
    }

    /// Passes the instrument of these labels to `body` without retaining it, as the subscript does.
    ///
    /// Use it when several threads look up at once: they contend for the reference count.
    @inlinable
    public func with<Result>(_ labels: Labels, _ body: (Instrument) -> Result) -> Result {
        let hash = index.hash(labels)
        if let known = unsafe index.find(labels, hash: hash) { return unsafe known._withUnsafeGuaranteedRef(body) }
        return body(index.add(labels, hash: hash))
    }

    /// Removes the series of these labels from the page; false if there is none. A later lookup starts a new one.
    ///
    /// After its first removal a family's lookups take a lock and about 100 ns.
    @discardableResult
    public func remove(_ labels: Labels) -> Bool {
        removeSeries(labels.labelValues)
    }

    /// Removes all series from the page, as `remove(_:)` does one.
    public func removeAll() {
        removeAllSeries()
    }
}

extension LabelSetFamily {
    /// The instrument of this value of the family's only label.
    @inlinable
    public subscript<Value>(_ value: Value) -> Instrument where Labels == LabelSingle<Value> {
        self[LabelSingle(value)]
    }

    /// The instrument of these values of the family's two labels.
    @inlinable
    public subscript<First, Second>(_ first: First, _ second: Second) -> Instrument
    where Labels == LabelPair<First, Second> {
        self[LabelPair(first, second)]
    }

    /// `remove(_:)` for the value of the family's only label.
    @discardableResult
    public func remove<Value>(_ value: Value) -> Bool where Labels == LabelSingle<Value> {
        remove(LabelSingle(value))
    }

    /// `remove(_:)` for the values of the family's two labels.
    @discardableResult
    public func remove<First, Second>(_ first: First, _ second: Second) -> Bool
    where Labels == LabelPair<First, Second> {
        remove(LabelPair(first, second))
    }

    /// `with(_:_:)` for the value of the family's only label.
    @inlinable
    public func with<Value, Result>(_ value: Value, _ body: (Instrument) -> Result) -> Result
    where Labels == LabelSingle<Value> {
        with(LabelSingle(value), body)
    }

    /// `with(_:_:)` for the values of the family's two labels.
    @inlinable
    public func with<First, Second, Result>(
        _ first: First,
        _ second: Second,
        _ body: (Instrument) -> Result
    ) -> Result where Labels == LabelPair<First, Second> {
        with(LabelPair(first, second), body)
    }
}
