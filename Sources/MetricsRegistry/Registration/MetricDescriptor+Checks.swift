// SPDX-License-Identifier: Apache-2.0

extension MetricDescriptor {
    /// The first thing that makes the descriptor unfit for any page, whatever else is registered.
    func conflict(limits: RegistryLimits) -> RegistrationConflict? {
        nameConflict(limits: limits) ?? labelConflict(limits: limits)
    }

    /// The first difference from a family registered under the same name; an absent help or unit differs from nothing.
    func conflict(with registered: MetricDescriptor) -> RegistrationConflict? {
        if kind != registered.kind {
            return conflict(
                .otherKind,
                expected: "a \(registered.kind.rawValue), as registered first",
                found: "a \(kind.rawValue)",
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

    func conflict(
        _ reason: RegistrationConflict.Reason,
        expected: String,
        found: String,
        advice: String
    ) -> RegistrationConflict {
        RegistrationConflict(name: name, reason: reason, expected: expected, found: found, advice: advice)
    }

    private func nameConflict(limits: RegistryLimits) -> RegistrationConflict? {
        if !MetricName.isValid(name) || name.utf8.count > limits.nameBytes {
            return conflict(
                .invalidName,
                expected: "a name of letters, digits, '_' and ':' that starts with no digit, "
                    + "at most \(limits.nameBytes) bytes",
                found: "\(name.utf8.count) bytes: \(String(name.prefix(64)).debugDescription)",
                advice: "rename the metric"
            )
        }
        if help.utf8.count > limits.helpBytes {
            return conflict(
                .limit,
                expected: "a help of at most \(limits.helpBytes) bytes",
                found: "\(help.utf8.count) bytes",
                advice: "say it in a sentence"
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
        var seen: Set<String> = []
        for label in labelNames {
            if !MetricName.isValidLabel(label) || label.utf8.count > limits.nameBytes {
                return conflict(
                    .invalidLabelName(label),
                    expected: "a label name of letters, digits and '_' that starts with no digit, "
                        + "at most \(limits.nameBytes) bytes",
                    found: "\(label.utf8.count) bytes: \(String(label.prefix(64)).debugDescription)",
                    advice: "rename the label"
                )
            }
            if MetricName.isReservedLabel(label) || (kind == .histogram && label == "le") {
                return conflict(
                    .reservedLabelName(label),
                    expected: "a label name that neither Prometheus nor the metric's kind uses itself",
                    found: label,
                    advice: "rename the label"
                )
            }
            if !seen.insert(label).inserted {
                return conflict(
                    .repeatedLabelName(label),
                    expected: "each label name once",
                    found: "\(label) twice",
                    advice: "remove or rename one"
                )
            }
        }
        return nil
    }
}
