// SPDX-License-Identifier: Apache-2.0

/// The counters of one name, one for each combination of label values.
///
/// A lookup of known values takes no lock; one of new values creates a series. Beyond the family's limit of series,
/// with a value that is too long, or with the wrong number of values, a lookup returns the overflow series, whose
/// label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
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
        order.isIdentity ? series.member(first, second) : with([first, second])
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String, _ third: String) -> Counter {
        order.isIdentity ? series.member(first, second, third) : with([first, second, third])
    }

    /// Passes the counter of this value of the family's only label to `body`, without retaining it.
    ///
    /// Unlike `with(_:)` this saves two atomic additions, on which threads would contend.
    public func with(_ value: String, _ body: (Counter) -> Void) {
        series.withMember(value, body)
    }

    /// Passes the counter of these values to `body`, as `with(_:_:)` for one value does.
    public func with(_ first: String, _ second: String, _ body: (Counter) -> Void) {
        order.isIdentity ? series.withMember(first, second, body) : body(with([first, second]))
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ values: [String]) -> Counter {
        series.member(order.arranged(values))
    }

    /// The counter of these values; with `onceUsed` a page omits it while it is 0.
    ///
    /// The flag only has an effect when the series is created.
    public func with(_ values: [String], onceUsed: Bool) -> Counter {
        series.member(order.arranged(values), hiddenUntilUsed: onceUsed)
    }

    /// The counter of this value of the family's only label.
    public subscript(_ value: String) -> Counter { with(value) }

    /// The counter of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String) -> Counter { with(first, second) }

    /// The counter of these values, in the order of the label names at registration.
    public subscript(_ first: String, _ second: String, _ third: String) -> Counter { with(first, second, third) }

    /// Removes the series of these values from the page; false if there is none.
    ///
    /// The values are in the order of the label names at registration. An existing reference keeps working, but is on
    /// no page; the next lookup of the values creates a new series. After its first removal a family's lookups take a
    /// lock: about 20 ns more, and longer when several threads look up at once.
    @discardableResult
    public func remove(_ values: String...) -> Bool {
        series.remove(order.arranged(values))
    }

    /// Removes all series of the family from the page, as `remove(_:)` does one.
    public func removeAll() {
        series.removeAll()
    }
}

/// The striped counters of one name, one for each combination of label values.
///
/// Lookups behave as in `CounterFamily`. A lookup without a closure retains the counter, which threads contend for
/// like a plain counter: keep the counter.
public struct StripedCounterFamily: Sendable {
    private let series: InstrumentFamily<StripedCounter>
    private let order: LabelOrder

    init(_ series: InstrumentFamily<StripedCounter>, order: LabelOrder) {
        self.series = series
        self.order = order
    }

    /// Passes the counter of this value of the family's only label to `body`, without retaining it.
    ///
    /// Unlike `with(_:)` this saves two atomic additions, on which threads would contend.
    public func with(_ value: String, _ body: (StripedCounter) -> Void) {
        series.withMember(value, body)
    }

    /// Passes the counter of these values to `body`, as `with(_:_:)` for one value does.
    public func with(_ first: String, _ second: String, _ body: (StripedCounter) -> Void) {
        order.isIdentity ? series.withMember(first, second, body) : body(with([first, second]))
    }

    /// The counter of these values, in the order of the label names at registration.
    public func with(_ values: [String]) -> StripedCounter {
        series.member(order.arranged(values))
    }

    /// The counter of these values, in the order of the label names at registration.
    public subscript(_ values: String...) -> StripedCounter { with(values) }

    /// Removes the series of these values from the page; false if there is none.
    ///
    /// An existing reference keeps working, but is on no page; the next lookup of the values creates a new series.
    @discardableResult
    public func remove(_ values: String...) -> Bool {
        series.remove(order.arranged(values))
    }

    /// Removes all series of the family from the page, as `remove(_:)` does one.
    public func removeAll() {
        series.removeAll()
    }
}

/// The gauges of one name, one for each combination of label values.
///
/// A lookup of known values takes no lock; one of new values creates a series. Beyond the family's limit of series,
/// with a value that is too long, or with the wrong number of values, a lookup returns the overflow series, whose
/// label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
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
        order.isIdentity ? series.member(first, second) : with([first, second])
    }

    /// The gauge of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String, _ third: String) -> Gauge {
        order.isIdentity ? series.member(first, second, third) : with([first, second, third])
    }

    /// Passes the gauge of this value of the family's only label to `body`, without retaining it.
    ///
    /// Unlike `with(_:)` this saves two atomic additions, on which threads would contend.
    public func with(_ value: String, _ body: (Gauge) -> Void) {
        series.withMember(value, body)
    }

    /// Passes the gauge of these values to `body`, as `with(_:_:)` for one value does.
    public func with(_ first: String, _ second: String, _ body: (Gauge) -> Void) {
        order.isIdentity ? series.withMember(first, second, body) : body(with([first, second]))
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

    /// Removes the series of these values from the page; false if there is none.
    ///
    /// The values are in the order of the label names at registration. An existing reference keeps working, but is on
    /// no page; the next lookup of the values creates a new series. After its first removal a family's lookups take a
    /// lock: about 20 ns more, and longer when several threads look up at once.
    @discardableResult
    public func remove(_ values: String...) -> Bool {
        series.remove(order.arranged(values))
    }

    /// Removes all series of the family from the page, as `remove(_:)` does one.
    public func removeAll() {
        series.removeAll()
    }
}

/// The histograms of one name, one for each combination of label values.
///
/// A lookup of known values takes no lock; one of new values creates a series. Beyond the family's limit of series,
/// with a value that is too long, or with the wrong number of values, a lookup returns the overflow series, whose
/// label values are all `other`, and counts in `metrics_registry_overflowed_lookups_total`.
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
        order.isIdentity ? series.member(first, second) : with([first, second])
    }

    /// The histogram of these values, in the order of the label names at registration.
    public func with(_ first: String, _ second: String, _ third: String) -> Histogram {
        order.isIdentity ? series.member(first, second, third) : with([first, second, third])
    }

    /// Passes the histogram of this value of the family's only label to `body`, without retaining it.
    ///
    /// Unlike `with(_:)` this saves two atomic additions, on which threads would contend.
    public func with(_ value: String, _ body: (Histogram) -> Void) {
        series.withMember(value, body)
    }

    /// Passes the histogram of these values to `body`, as `with(_:_:)` for one value does.
    public func with(_ first: String, _ second: String, _ body: (Histogram) -> Void) {
        order.isIdentity ? series.withMember(first, second, body) : body(with([first, second]))
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

    /// Removes the series of these values from the page; false if there is none.
    ///
    /// The values are in the order of the label names at registration. An existing reference keeps working, but is on
    /// no page; the next lookup of the values creates a new series. After its first removal a family's lookups take a
    /// lock: about 20 ns more, and longer when several threads look up at once.
    @discardableResult
    public func remove(_ values: String...) -> Bool {
        series.remove(order.arranged(values))
    }

    /// Removes all series of the family from the page, as `remove(_:)` does one.
    public func removeAll() {
        series.removeAll()
    }
}
