// SPDX-License-Identifier: Apache-2.0

/// The counters of one name, one for each combination of label values.
///
/// A look-up of values that were seen before takes no lock; one of new values creates a series. Past the family's
/// limit of series, with a value that is too long, or with a wrong number of values, a look-up gives the overflow
/// series, whose label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
public struct CounterFamily: Sendable {
    private let series: InstrumentFamily<Counter>
    private let order: LabelOrder

    init(_ series: InstrumentFamily<Counter>, order: LabelOrder) {
        self.series = series
        self.order = order
    }

    /// The counter of this value of the family's only label.
    public func with(_ value: String) -> Counter {
        series.member(value)
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String) -> Counter {
        order.isSame ? series.member(first, second) : with([first, second])
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String, _ third: String) -> Counter {
        order.isSame ? series.member(first, second, third) : with([first, second, third])
    }

    /// Gives `body` the counter of this value of the family's only label, without counting a reference to it, which
    /// `with(_:)` does: two atomic additions less, for which several threads would contend.
    public func with(_ value: String, _ body: (Counter) -> Void) {
        series.withMember(value, body)
    }

    /// Gives `body` the counter of these values, as `with(_:_:)` for one value and a closure does.
    public func with(_ first: String, _ second: String, _ body: (Counter) -> Void) {
        order.isSame ? series.withMember(first, second, body) : body(with([first, second]))
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ values: [String]) -> Counter {
        series.member(order.arranged(values))
    }

    /// The counter of these values, which a page leaves out while it is at 0 where it is to be shown once used.
    ///
    /// What a series was created with, it keeps.
    public func with(_ values: [String], onceUsed: Bool) -> Counter {
        series.member(order.arranged(values), hiddenUntilUsed: onceUsed)
    }

    /// The counter of this value of the family's only label.
    public subscript(_ value: String) -> Counter { with(value) }

    /// The counter of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String) -> Counter { with(first, second) }

    /// The counter of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String, _ third: String) -> Counter { with(first, second, third) }

    /// Takes the counter of these values off the page; false when there is none.
    ///
    /// The values are in the order of the label names at registration. Who still has the counter can go on using it, unseen;
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

/// The gauges of one name, one for each combination of label values.
///
/// A look-up of values that were seen before takes no lock; one of new values creates a series. Past the family's
/// limit of series, with a value that is too long, or with a wrong number of values, a look-up gives the overflow
/// series, whose label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
public struct GaugeFamily: Sendable {
    private let series: InstrumentFamily<Gauge>
    private let order: LabelOrder

    init(_ series: InstrumentFamily<Gauge>, order: LabelOrder) {
        self.series = series
        self.order = order
    }

    /// The gauge of this value of the family's only label.
    public func with(_ value: String) -> Gauge {
        series.member(value)
    }

    /// The gauge of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String) -> Gauge {
        order.isSame ? series.member(first, second) : with([first, second])
    }

    /// The gauge of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String, _ third: String) -> Gauge {
        order.isSame ? series.member(first, second, third) : with([first, second, third])
    }

    /// Gives `body` the gauge of this value of the family's only label, without counting a reference to it, which
    /// `with(_:)` does: two atomic additions less, for which several threads would contend.
    public func with(_ value: String, _ body: (Gauge) -> Void) {
        series.withMember(value, body)
    }

    /// Gives `body` the gauge of these values, as `with(_:_:)` for one value and a closure does.
    public func with(_ first: String, _ second: String, _ body: (Gauge) -> Void) {
        order.isSame ? series.withMember(first, second, body) : body(with([first, second]))
    }

    /// The gauge of these values, in the order of the label names at registration.
    public func with(_ values: [String]) -> Gauge {
        series.member(order.arranged(values))
    }

    /// The gauge of this value of the family's only label.
    public subscript(_ value: String) -> Gauge { with(value) }

    /// The gauge of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String) -> Gauge { with(first, second) }

    /// The gauge of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String, _ third: String) -> Gauge { with(first, second, third) }

    /// Takes the gauge of these values off the page; false when there is none.
    ///
    /// The values are in the order of the label names at registration. Who still has the gauge can go on using it, unseen;
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
