// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The series of one metric name whose values a function computes all at once.
///
/// A result replaces the previous one atomically, and a scrape copies one result completely.
final class ComputedFamily: ExposedFamily {
    let descriptor: MetricDescriptor
    private let rules: ComputedRules
    /// Held while a result is merged; scrapes do not wait for that.
    private let latest = Mutex(ComputedSeries())
    private let shown = Mutex(Shown())

    private struct Shown {
        var series = ComputedSeries()
        /// For these label values.
        var layouts: [ExpositionFormat: any PageLayout] = [:]

        mutating func replace(by next: ComputedSeries) {
            if next.generation != series.generation { layouts.removeAll() }
            series = next
        }
    }

    init(_ descriptor: MetricDescriptor, rules: FamilyRules) {
        self.descriptor = descriptor
        self.rules = ComputedRules(descriptor: descriptor, family: rules)
    }

    /// Replaces all series with those that the function returned.
    func show(_ samples: [(labelValues: [String], value: Double)]) {
        latest.withLock { latest in
            latest = latest.after(samples, rules)
            let next = latest
            shown.withLock { $0.replace(by: next) }
        }
    }

    // MARK: Scraping

    func capture(_ format: ExpositionFormat, into scraped: inout ScrapedState) -> FamilyCapture {
        let (series, kept) = shown.withLock { shown in (shown.series, shown.layouts[layoutFormat(format)]) }
        let count = series.values.count
        let values = scraped.words.append(count) { words, start in
            for place in 0..<count { words[start + place] = series.values[place].bitPattern }
        }
        let created = scraped.words.append(format.showsCreated ? count : 0) { words, start in
            if !format.showsCreated { return }
            for place in 0..<count { words[start + place] = UInt64(bitPattern: series.created[place]) }
        }
        return FamilyCapture(
            family: self,
            layout: kept.map { .kept($0) } ?? missingLayout(format, of: series),
            generation: series.generation,
            values: values,
            created: created,
            exemplars: scraped.exemplars.count..<scraped.exemplars.count,
            sparse: scraped.words.count..<scraped.words.count,
            seriesCount: count
        )
    }

    func keep(_ layout: any PageLayout, for format: ExpositionFormat, generation: Int) {
        let format = layoutFormat(format)
        shown.withLock { shown in
            if shown.series.generation == generation { shown.layouts[format] = layout }
        }
    }

    private func layoutFormat(_ format: ExpositionFormat) -> ExpositionFormat {
        format.layoutFormat(hasClassicNames: descriptor.hasClassicNames)
    }

    private func missingLayout(_ format: ExpositionFormat, of series: ComputedSeries) -> FamilyCapture.Layout {
        let format = layoutFormat(format)
        return .missing { [descriptor] in
            let labelValues = series.labels.map(\.values)
            if format.encoding == .protobuf {
                return ProtobufLayout(
                    descriptor,
                    format,
                    shape: .floatingPoint,
                    labelValues: labelValues,
                    hiddenUntilUsed: []
                )
            }
            return TextLayout(
                descriptor,
                format,
                shape: .floatingPoint,
                labelValues: labelValues,
                created: series.created,
                hiddenUntilUsed: []
            )
        }
    }
}

/// How a family of computed series accepts values.
struct ComputedRules: Sendable {
    let descriptor: MetricDescriptor
    let family: FamilyRules

    var isCounter: Bool { descriptor.kind == .counter }

    /// The value to show when a function returns `new` for a series that showed `old`; nil if there is none.
    ///
    /// A counter never falls, and values that are not totals are ignored and counted.
    func value(_ new: Double, after old: Double?) -> Double? {
        guard isCounter else { return new }
        return isTotal(new) ? max(new, old ?? 0) : old
    }

    /// The sum of the valid totals; others are ignored and counted. Nil if there is none.
    func sum(_ totals: [Double]) -> Double? {
        let totals = totals.filter(isTotal)
        return totals.isEmpty ? nil : totals.reduce(0, +)
    }

    private func isTotal(_ value: Double) -> Bool {
        if value.isFinite, value >= 0 { return true }
        family.ignoredValues?.add()
        return false
    }
}
