// SPDX-License-Identifier: Apache-2.0

/// The histograms of one name, one for each combination of label values.
///
/// A look-up of values that were seen before takes no lock; one of new values creates a series. Past the family's
/// limit of series, with a value that is too long, or with a wrong number of values, a look-up gives the overflow
/// series, whose label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
public struct HistogramFamily: Sendable {
    private let series: InstrumentFamily<Histogram>
    private let order: LabelOrder

    init(_ series: InstrumentFamily<Histogram>, order: LabelOrder) {
        self.series = series
        self.order = order
    }

    /// The histogram of this value of the family's only label.
    public func with(_ value: String) -> Histogram {
        series.member(value)
    }

    /// The histogram of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String) -> Histogram {
        order.isSame ? series.member(first, second) : with([first, second])
    }

    /// The histogram of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String, _ third: String) -> Histogram {
        order.isSame ? series.member(first, second, third) : with([first, second, third])
    }

    /// Gives `body` the histogram of this value of the family's only label, without counting a reference to it, which
    /// `with(_:)` does: two atomic additions less, for which several threads would contend.
    public func with(_ value: String, _ body: (Histogram) -> Void) {
        series.withMember(value, body)
    }

    /// Gives `body` the histogram of these values, as `with(_:_:)` for one value and a closure does.
    public func with(_ first: String, _ second: String, _ body: (Histogram) -> Void) {
        order.isSame ? series.withMember(first, second, body) : body(with([first, second]))
    }

    /// The histogram of these values, in the order of the label names at registration.
    public func with(_ values: [String]) -> Histogram {
        series.member(order.arranged(values))
    }

    /// The histogram of this value of the family's only label.
    public subscript(_ value: String) -> Histogram { with(value) }

    /// The histogram of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String) -> Histogram { with(first, second) }

    /// The histogram of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String, _ third: String) -> Histogram { with(first, second, third) }

    /// Takes the histogram of these values off the page; false when there is none.
    ///
    /// The values are in the order of the label names at registration. Who still has the histogram can go on using it, unseen;
    /// the next look-up of the values makes a new one. Once a family has lost a series, its look-ups take a lock: some
    /// 20 ns more, and more than that where several threads look up at once.
    @discardableResult
    public func remove(_ values: String...) -> Bool {
        series.remove(order.arranged(values))
    }

    /// Takes all series of the family off the page, as `remove(_:)` does one.
    public func removeAll() {
        series.removeAll()
    }
}
