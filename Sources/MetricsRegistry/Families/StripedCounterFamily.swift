// SPDX-License-Identifier: Apache-2.0

/// The striped counters of one name, one for each combination of label values.
///
/// A look-up of values that were seen before takes no lock; one of new values creates a series. Past the family's
/// limit of series, with a value that is too long, or with a wrong number of values, a look-up gives the overflow
/// series, whose label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`. A look-up
/// counts a reference to the counter, which is contended for like a plain counter: keep the counter.
public struct StripedCounterFamily: Sendable {
    private let series: InstrumentFamily<StripedCounter>
    private let order: LabelOrder

    init(_ series: InstrumentFamily<StripedCounter>, order: LabelOrder) {
        self.series = series
        self.order = order
    }

    /// Gives `body` the counter of this value of the family's only label, without counting a reference to it, which
    /// `with(_:)` does: two atomic additions less, for which several threads would contend.
    public func with(_ value: String, _ body: (StripedCounter) -> Void) {
        series.withMember(value, body)
    }

    /// Gives `body` the counter of these values, as `with(_:_:)` for one value and a closure does.
    public func with(_ first: String, _ second: String, _ body: (StripedCounter) -> Void) {
        order.isSame ? series.withMember(first, second, body) : body(with([first, second]))
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ values: [String]) -> StripedCounter {
        series.member(order.arranged(values))
    }

    /// The counter of these values, in the order of the label names at registration.
    public subscript(_ values: String...) -> StripedCounter { with(values) }

    /// Takes the series of these values off the page; false when there is none.
    ///
    /// Who still has the counter can go on using it, unseen; the next look-up of the values makes a new one.
    @discardableResult
    public func remove(_ values: String...) -> Bool {
        series.remove(order.arranged(values))
    }

    /// Takes all series of the family off the page, as `remove(_:)` does one.
    public func removeAll() {
        series.removeAll()
    }
}
