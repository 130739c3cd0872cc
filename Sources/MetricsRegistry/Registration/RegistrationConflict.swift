// SPDX-License-Identifier: Apache-2.0

/// Why a registration got a detached instrument, which works but is on no page.
public struct RegistrationConflict: Error, Sendable, Hashable {
    /// The rule that the registration broke.
    public enum Reason: Sendable, Hashable {
        /// The metric's name is empty, holds control characters, is too long, or is not classic where it has to be.
        case invalidName
        /// A label's name is empty, holds colons or control characters, is too long, or is not classic where it has
        /// to be.
        case invalidLabelName(String)
        /// A label's name belongs to Prometheus (`__…`, escaped too) or to the kind (`le` of a histogram).
        case reservedLabelName(String)
        /// A label name is repeated, or is the same as another once escaped.
        case repeatedLabelName(String)
        /// The bounds of a histogram do not increase strictly, or one is not a number.
        case unorderedBuckets
        /// The name is registered as something else.
        case otherKind
        /// The name is registered with other labels.
        case otherLabels
        /// The name is registered with another help text or unit.
        case otherMeaning
        /// The histogram is registered with other bounds or other native buckets.
        case otherBuckets
        /// A sample of the family would have the name of another family.
        case occupiedName(String)
        /// The family is computed by a function that is already registered.
        case repeatedFunction
        /// A limit of the registry is reached.
        case limit
    }

    /// The name of the metric.
    public let name: String
    /// The rule that was broken.
    public let reason: Reason
    /// What would have been accepted.
    public let expected: String
    /// What was requested.
    public let found: String
    /// How to fix it.
    public let advice: String
}

extension RegistrationConflict: CustomStringConvertible {
    /// One sentence for a log: the name, what was expected and found, and how to fix it.
    public var description: String {
        "metric \(name.debugDescription) is not exposed: expected \(expected), found \(found); \(advice)"
    }
}

extension MetricDescriptor {
    /// The first reason why no registry with these limits accepts the descriptor.
    func conflict(limits: RegistryLimits) -> RegistrationConflict? {
        nameConflict(limits: limits) ?? labelConflict(limits: limits)
    }

    /// The first difference from a family registered under the same name; a missing help or unit matches any.
    func conflict(with registered: MetricDescriptor) -> RegistrationConflict? {
        if kind != registered.kind {
            return conflict(
                .otherKind,
                expected: "a \(registered.kind.rawValue), as registered first",
                found: "a \(kind.rawValue)",
                advice: "give one of the two another name"
            )
        }
        if hasOpenLabels != registered.hasOpenLabels {
            return conflict(
                .otherLabels,
                expected: registered.hasOpenLabels
                    ? "a metric of swift-metrics, as registered first"
                    : "the labels \(registered.labelNames), as registered first",
                found: hasOpenLabels ? "a metric of swift-metrics" : "\(labelNames)",
                advice: "give one of the two another name"
            )
        }
        if Set(labelNames) != Set(registered.labelNames) {
            return conflict(
                .otherLabels,
                expected: "the labels \(registered.labelNames), as registered first",
                found: "\(labelNames)",
                advice: "use the same labels everywhere or another name"
            )
        }
        if !help.isEmpty, !registered.help.isEmpty, help != registered.help {
            return conflict(
                .otherMeaning,
                expected: "the help \(registered.help.debugDescription), as registered first",
                found: help.debugDescription,
                advice: "use the same text, none, or another name"
            )
        }
        if let unit, let registeredUnit = registered.unit, unit != registeredUnit {
            return conflict(
                .otherMeaning,
                expected: "the unit \(registeredUnit), as registered first",
                found: unit,
                advice: "use the same unit, none, or another name"
            )
        }
        return nil
    }

    /// The first difference between the buckets of two histograms with the same name.
    func conflict(_ wanted: HistogramBounds, with registered: HistogramBounds) -> RegistrationConflict? {
        if wanted.values != registered.values {
            return conflict(
                .otherBuckets,
                expected: "the bounds \(registered.values), as registered first",
                found: "\(wanted.values)",
                advice: "use the same bounds everywhere or another name"
            )
        }
        if wanted.native != registered.native {
            return conflict(
                .otherBuckets,
                expected: "\(NativeBuckets.text(registered.native)), as registered first",
                found: NativeBuckets.text(wanted.native),
                advice: "use the same native buckets everywhere or another name"
            )
        }
        return nil
    }

    func conflict(
        _ reason: RegistrationConflict.Reason,
        expected: String,
        found: String,
        advice: String
    ) -> RegistrationConflict {
        RegistrationConflict(name: name, reason: reason, expected: expected, found: found, advice: advice)
    }

    private func nameConflict(limits: RegistryLimits) -> RegistrationConflict? {
        let isValid = MetricName.isValid(name, allowingUTF8: limits.allowsUTF8Names)
        if !isValid || name.utf8.count > limits.nameBytes {
            let form =
                limits.allowsUTF8Names
                ? "a name without control characters"
                : "a name of letters, digits, '_' and ':' that does not start with a digit"
            return conflict(
                .invalidName,
                expected: "\(form), at most \(limits.nameBytes) bytes",
                found: "\(name.utf8.count) bytes: \(String(name.prefix(64)).debugDescription)",
                advice: "rename the metric"
            )
        }
        if help.utf8.count > limits.helpBytes {
            return conflict(
                .limit,
                expected: "a help of at most \(limits.helpBytes) bytes",
                found: "\(help.utf8.count) bytes",
                advice: "shorten it to a sentence"
            )
        }
        return nil
    }

    private func labelConflict(limits: RegistryLimits) -> RegistrationConflict? {
        if labelNames.count > limits.labels {
            return conflict(
                .limit,
                expected: "at most \(limits.labels) labels",
                found: "\(labelNames.count)",
                advice: "split the metric"
            )
        }
        for label in labelNames {
            if let conflict = conflict(label: label, limits: limits) { return conflict }
        }
        return repeatedLabelConflict()
    }

    private func conflict(label: String, limits: RegistryLimits) -> RegistrationConflict? {
        let isValid = MetricName.isValidLabel(label, allowingUTF8: limits.allowsUTF8Names)
        if !isValid || label.utf8.count > limits.nameBytes {
            let form =
                limits.allowsUTF8Names
                ? "a label name without colons and control characters"
                : "a label name of letters, digits and '_' that does not start with a digit"
            return conflict(
                .invalidLabelName(label),
                expected: "\(form), at most \(limits.nameBytes) bytes",
                found: "\(label.utf8.count) bytes: \(String(label.prefix(64)).debugDescription)",
                advice: "rename the label"
            )
        }
        if MetricName.isReservedLabel(label) || (kind == .histogram && label == "le") {
            return conflict(
                .reservedLabelName(label),
                expected: "a label name that neither Prometheus nor the metric's kind uses itself, escaped or not",
                found: label,
                advice: "rename the label"
            )
        }
        return nil
    }

    /// A repeated label, or two labels with the same name in one of the escapings.
    private func repeatedLabelConflict() -> RegistrationConflict? {
        for escaping in NameEscaping.allCases {
            var seen: Set<String> = []
            for label in labelNames where !seen.insert(escaping.escape(label)).inserted {
                return conflict(
                    .repeatedLabelName(label),
                    expected: "label names that differ on every page",
                    found: "\(escaping.escape(label)) twice with escaping=\(escaping.rawValue)",
                    advice: "remove or rename one"
                )
            }
        }
        return nil
    }
}
