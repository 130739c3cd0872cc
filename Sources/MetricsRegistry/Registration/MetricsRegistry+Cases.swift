// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// The counters with this name, one for each case of a closed set, all created at 0.
    ///
    /// - Parameters:
    ///   - label: The name of the label.
    ///   - type: The closed set of its values, which are the cases' raw values.
    ///   - onceUsed: The cases that a page omits while they are 0.
    public func counter<Label: CaseIterable & Hashable & Sendable & RawRepresentable>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        of type: Label.Type,
        onceUsed: Set<Label> = []
    ) -> CaseFamily<Label, Counter> where Label.RawValue == String {
        counter(name, help: help, unit: unit, label: label, of: type, onceUsed: onceUsed, value: \.rawValue)
    }

    /// The counters with this name, one for each case of a closed set, all created at 0.
    ///
    /// - Parameters:
    ///   - label: The name of the label.
    ///   - type: The closed set of its values.
    ///   - onceUsed: The cases that a page omits while they are 0.
    ///   - value: The label value of a case.
    public func counter<Label: CaseIterable & Hashable & Sendable>(
        _ name: String,
        help: String,
        unit: String? = nil,
        label: String,
        of type: Label.Type,
        onceUsed: Set<Label> = [],
        value: (Label) -> String
    ) -> CaseFamily<Label, Counter> {
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: [label])
        let series = counters(descriptor, Label.allCases.count)
        return CaseFamily(unlisted: { series.overflow() }) { label in
            series.member([value(label)], hiddenUntilUsed: onceUsed.contains(label))
        }
    }

    /// The counters with this name, one for each pair of cases of two closed sets, all created at 0.
    ///
    /// The label values are the raw values of the cases.
    ///
    /// - Parameters:
    ///   - labels: The names of the two labels.
    ///   - types: The closed sets of their values.
    public func counter<First, Second>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        of types: (First.Type, Second.Type)
    ) -> CasePairFamily<First, Second, Counter>
    where
        First: CaseIterable & Hashable & Sendable & RawRepresentable, First.RawValue == String,
        Second: CaseIterable & Hashable & Sendable & RawRepresentable, Second.RawValue == String
    {
        counter(name, help: help, unit: unit, labels: labels, of: types, values: (\.rawValue, \.rawValue))
    }

    /// The counters with this name, one for each pair of cases of two closed sets, all created at 0.
    ///
    /// - Parameters:
    ///   - labels: The names of the two labels.
    ///   - types: The closed sets of their values.
    ///   - values: The label value of a case, for each of the two.
    public func counter<First, Second>(
        _ name: String,
        help: String,
        unit: String? = nil,
        labels: (String, String),
        of types: (First.Type, Second.Type),
        values: ((First) -> String, (Second) -> String)
    ) -> CasePairFamily<First, Second, Counter>
    where First: CaseIterable & Hashable & Sendable, Second: CaseIterable & Hashable & Sendable {
        let names = [labels.0, labels.1]
        let descriptor = MetricDescriptor(name: name, help: help, unit: unit, kind: .counter, labelNames: names)
        let pairs = First.allCases.count * Second.allCases.count
        let series = counters(descriptor, pairs)
        let order = LabelOrder(caller: names, family: series.descriptor.labelNames)
        return CasePairFamily(unlisted: { series.overflow() }) { first, second in
            series.member(order.arranged([values.0(first), values.1(second)]))
        }
    }
}
