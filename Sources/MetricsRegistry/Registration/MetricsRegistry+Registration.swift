// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// The family of that description: the registered one, a new one, or in a conflict a detached one.
    func family<Member: Instrument>(
        _ descriptor: MetricDescriptor,
        of type: Member.Type,
        shape: SampleShape,
        maximumSeries: Int? = nil
    ) -> InstrumentFamily<Member> {
        if let conflict = descriptor.conflict(limits: limits) {
            return detached(descriptor, shape: shape, after: conflict)
        }
        let outcome: Result<InstrumentFamily<Member>, RegistrationConflict> = catalog.withLock { catalog in
            if let registered = catalog.families[descriptor.name] {
                return existing(registered, for: descriptor, of: type, shape: shape)
            }
            if let conflict = catalog.conflict(adding: descriptor, limits: limits) {
                return .failure(conflict)
            }
            let overflowedLookups = own.overflowedLookups
            let family = InstrumentFamily<Member>(
                descriptor,
                shape: shape,
                rules: rules(
                    maximumSeries: maximumSeries,
                    overflowedLookups: descriptor.hasLabels ? overflowedLookups.member(descriptor.name) : nil
                )
            )
            catalog.add(family)
            return .success(family)
        }
        switch outcome {
        case .success(let family): return family
        case .failure(let conflict): return detached(descriptor, shape: shape, after: conflict)
        }
    }

    /// Reports a conflict, and gives a family that is on no page.
    func detached<Member: Instrument>(
        _ descriptor: MetricDescriptor,
        shape: SampleShape,
        after conflict: RegistrationConflict
    ) -> InstrumentFamily<Member> {
        report(conflict)
        return InstrumentFamily(descriptor, shape: shape, rules: rules(maximumSeries: nil, overflowedLookups: nil))
    }

    func report(_ conflict: RegistrationConflict) {
        own.conflicts.add()
        onConflict(conflict)
    }

    private func existing<Member: Instrument>(
        _ registered: any ExposedFamily,
        for descriptor: MetricDescriptor,
        of type: Member.Type,
        shape: SampleShape
    ) -> Result<InstrumentFamily<Member>, RegistrationConflict> {
        if let conflict = descriptor.conflict(with: registered.descriptor) { return .failure(conflict) }
        if registered is ComputedFamily { return .failure(descriptor.repeatedFunction()) }
        guard let family = registered as? InstrumentFamily<Member> else {
            return .failure(
                descriptor.conflict(
                    .otherKind,
                    expected: "\(sort(of: registered)), as registered first",
                    found: "one of another sort",
                    advice: "register the metric in the same way everywhere"
                )
            )
        }
        if case .histogram(let wanted) = shape, case .histogram(let bounds) = family.shape,
            let conflict = descriptor.conflict(wanted, with: bounds)
        {
            return .failure(conflict)
        }
        return .success(family)
    }

    /// What a family has, for a person who registered its name as something else of the same kind.
    private func sort(of registered: any ExposedFamily) -> String {
        switch registered {
        case is InstrumentFamily<Counter>: "a plain counter of whole numbers"
        case is InstrumentFamily<StripedCounter>: "a striped counter"
        case is InstrumentFamily<FractionalCounter>: "a counter with fractions"
        default: "a \(registered.descriptor.kind.rawValue)"
        }
    }

    func rules(maximumSeries: Int?, overflowedLookups: Counter?) -> FamilyRules {
        FamilyRules(
            maximumSeries: max(maximumSeries ?? limits.seriesPerFamily, 1),
            maximumValueBytes: limits.labelValueBytes,
            maximumLabelBytes: limits.labelBytesPerFamily,
            maximumOpenLabels: limits.labels,
            maximumNameBytes: limits.nameBytes,
            now: now,
            overflowedLookups: overflowedLookups ?? Counter(InstrumentSeed(created: 0, shape: .wholeNumber)),
            ignoredValues: own.ignoredValues
        )
    }
}
