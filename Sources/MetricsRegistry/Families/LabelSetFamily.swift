// SPDX-License-Identifier: Apache-2.0

/// The instruments of one name, one for each combination of labels in a form of the program's own.
///
/// A look-up of labels that were seen before takes no lock and makes no label values; one of new labels creates a
/// series. Past the family's limit of series, with a value that is too long, or with a wrong number of values, a look-up
/// gives the overflow series, whose label values are all `other`, and counts in
/// `metrics_registry_overflowed_lookups_total`.
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

    /// Gives `body` the instrument of these labels, without counting a reference to it, which the subscript does.
    ///
    /// For what several threads do at once: a count of references is a word that they contend for.
    @inlinable
    public func with<Result>(_ labels: Labels, _ body: (Instrument) -> Result) -> Result {
        let hash = index.hash(labels)
        if let known = unsafe index.find(labels, hash: hash) { return unsafe known._withUnsafeGuaranteedRef(body) }
        return body(index.add(labels, hash: hash))
    }

    /// Takes the series of these labels off the page; false when there is none. A later look-up begins a new one.
    ///
    /// From a family's first removal on its look-ups take a lock, and some 100 ns.
    @discardableResult
    public func remove(_ labels: Labels) -> Bool {
        removeSeries(labels.labelValues)
    }

    /// Takes all series off the page, as `remove(_:)` does one.
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
