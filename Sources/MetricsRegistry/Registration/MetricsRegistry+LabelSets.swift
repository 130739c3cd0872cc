// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// The family that is looked up by the program's own labels in front of the one that has the series.
    func labelSets<Labels: LabelCombination, Member: Instrument>(
        _ descriptor: MetricDescriptor,
        _ series: InstrumentFamily<Member>,
        maximumSeries: Int?
    ) -> LabelSetFamily<Labels, Member> {
        let order = LabelOrder(caller: descriptor.labelNames, family: series.descriptor.labelNames)
        let index = LabelIndex<Labels, Member>(
            maximumSeries: maximumSeries ?? limits.seriesPerFamily,
            removals: series.removals
        ) { labels in
            let values = order.arranged(labels.labelValues)
            let member = series.member(values)
            return (member, member.labelValues == values)
        }
        return LabelSetFamily(
            index,
            remove: { series.remove(order.arranged($0)) },
            removeAll: { series.removeAll() }
        )
    }
}
