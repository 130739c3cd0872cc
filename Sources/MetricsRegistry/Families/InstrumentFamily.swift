// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The series of one metric name: found without a lock, created and removed under one.
///
/// The first removal ends the look-ups without a lock: the table that they read then stays as it was, with its series,
/// since a reader may still be in it, and later look-ups take the lock that a removal takes too.
final class InstrumentFamily<Member: Instrument>: ExposedFamily {
    let descriptor: MetricDescriptor
    let shape: SampleShape
    let isComputed: Bool

    private struct Series {
        var members: ContiguousArray<Member> = []
        /// The places in `members` of the series that a page leaves out while they are zero.
        var hiddenUntilUsed: Set<Int> = []
        /// The table of all series.
        var current: SeriesSlots<Member>
        /// Every table that readers without a lock may still be in, and its series.
        var outgrown: [SeriesSlots<Member>] = []
        var frozen: ContiguousArray<Member> = []
        var layouts: [ExpositionFormat: any PageLayout] = [:]
    }

    private let rules: FamilyRules
    private let hasClassicNames: Bool
    let seed = UInt64.random(in: 0...UInt64.max)
    private let series: Mutex<Series>
    private let table: CurrentSlots<Member>
    private let isFull = Atomic(false)
    let removals = SeriesRemovals()

    init(_ descriptor: MetricDescriptor, shape: SampleShape, isComputed: Bool = false, rules: FamilyRules) {
        self.descriptor = descriptor
        self.shape = shape
        self.isComputed = isComputed
        self.rules = rules
        hasClassicNames = descriptor.hasClassicNames
        let first = SeriesSlots<Member>(capacity: descriptor.hasLabels ? 16 : 4)
        table = CurrentSlots(first)
        series = Mutex(Series(current: first))
    }

    /// The series of these label values, in the order of the descriptor's label names; the overflow series when their
    /// number is wrong, one is too long, or the family is full.
    func member(_ values: [String], hiddenUntilUsed: Bool = false) -> Member {
        var hash = LabelHash(seed: seed)
        for value in values { hash.combine(value) }
        return find(hash.value) { $0.labelValues == values }
            ?? create(values, hash: hash.value, hiddenUntilUsed: hiddenUntilUsed)
    }

    /// The series that takes what is past a limit; counts the look-up as overflowed.
    func overflow() -> Member {
        rules.overflowedLookups.add()
        let values = descriptor.overflowValues
        let hash = hash(of: values)
        if let member = find(hash, where: { $0.labelValues == values }) { return member }
        return series.withLock { insert(values, hash: hash, into: &$0) }
    }

    /// The series of that hash for which `matches` holds; without counting a reference to it, and so valid for as long
    /// as the family, and only while no series was ever removed.
    @inline(__always)
    func reference(_ hash: UInt64, where matches: (Member) -> Bool) -> Unmanaged<Member>? {
        generation == 0 ? unsafe table.reference(hash: hash, where: matches) : nil
    }

    @inline(__always)
    func find(_ hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        if generation != 0 { return findLocked(hash, where: matches) }
        return table.member(hash: hash, where: matches)
    }

    @inline(never)
    private func findLocked(_ hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        series.withLock { $0.current.member(hash: hash, where: matches) }
    }

    @inline(never)
    func create(_ values: [String], hash: UInt64, hiddenUntilUsed: Bool = false) -> Member {
        guard !isFull.load(ordering: .relaxed), rules.accepts(values, for: descriptor) else { return overflow() }
        let member: Member? = series.withLock { series in
            if let member = series.current.member(hash: hash, where: { $0.labelValues == values }) { return member }
            if series.members.count >= rules.maximumSeries {
                isFull.store(true, ordering: .relaxed)
                return nil
            }
            if hiddenUntilUsed { series.hiddenUntilUsed.insert(series.members.count) }
            return insert(values, hash: hash, into: &series)
        }
        return member ?? overflow()
    }

    /// Adds the series unless it is there already.
    private func insert(_ values: [String], hash: UInt64, into series: inout Series) -> Member {
        if let member = series.current.member(hash: hash, where: { $0.labelValues == values }) { return member }
        let member = Member(rules.seed(values, shape: shape))
        series.members.append(member)
        if series.current.isCrowded {
            let larger = self.table(of: series.members.dropLast(), capacity: series.current.capacity * 2)
            if generation == 0 { series.outgrown.append(series.current) }
            series.current = larger
        }
        series.current.insert(member, hash: hash)
        if generation == 0 { table.publish(series.current) }
        return member
    }

    private func table(of members: some Sequence<Member>, capacity: Int) -> SeriesSlots<Member> {
        let table = SeriesSlots<Member>(capacity: capacity)
        for member in members { table.insert(member, hash: hash(of: member.labelValues)) }
        return table
    }

    // MARK: Removing

    /// How often series have been removed.
    @inline(__always) var generation: Int { removals.count }

    /// Takes the series of these label values off the page; false when there is none.
    func remove(_ values: [String]) -> Bool {
        let hash = hash(of: values)
        return series.withLock { series in
            guard let place = series.members.firstIndex(where: { $0.labelValues == values }) else { return false }
            stopReadingWithoutLock(&series)
            series.current.remove(series.members[place], hash: hash) { self.hash(of: $0.labelValues) }
            let last = series.members.count - 1
            let lastIsHidden = series.hiddenUntilUsed.remove(last) != nil
            series.hiddenUntilUsed.remove(place)
            if lastIsHidden, place != last { series.hiddenUntilUsed.insert(place) }
            series.members.swapAt(place, last)
            series.members.removeLast()
            series.layouts.removeAll()
            isFull.store(false, ordering: .relaxed)
            return true
        }
    }

    /// Takes all series off the page.
    func removeAll() {
        series.withLock { series in
            stopReadingWithoutLock(&series)
            series.current = SeriesSlots(capacity: 16)
            series.members.removeAll()
            series.hiddenUntilUsed.removeAll()
            series.layouts.removeAll()
            isFull.store(false, ordering: .relaxed)
        }
    }

    private func stopReadingWithoutLock(_ series: inout Series) {
        if generation == 0 {
            series.frozen = series.members
            series.outgrown.append(series.current)
            series.current = table(of: series.members, capacity: series.current.capacity)
        }
        removals.add()
    }

    private func hash(of values: [String]) -> UInt64 {
        var hash = LabelHash(seed: seed)
        for value in values { hash.combine(value) }
        return hash.value
    }

    // MARK: Scraping

    func capture(_ format: ExpositionFormat, into scraped: inout ScrapedState) -> FamilyCapture {
        series.withLock { series in
            let count = series.members.count
            let values = scraped.words.append(count * shape.wordsPerSeries) {
                Member.copy(series.members.span, into: &$0, from: $1)
            }
            let created = scraped.words.append(format.tellsCreated ? count : 0) {
                if format.tellsCreated { Member.copyCreated(series.members.span, into: &$0, from: $1) }
            }
            let firstExemplar = scraped.exemplars.count
            if format.hasExemplars { Member.copyExemplars(series.members.span, into: &scraped.exemplars) }
            let firstSparse = scraped.words.count
            if format.hasSparseBuckets { Member.copySparseBuckets(series.members.span, into: &scraped.words) }
            return FamilyCapture(
                family: self,
                layout: layout(format, of: series),
                generation: generation,
                values: values,
                created: created,
                exemplars: firstExemplar..<scraped.exemplars.count,
                sparse: firstSparse..<scraped.words.count,
                seriesCount: count
            )
        }
    }

    private func layout(_ format: ExpositionFormat, of series: Series) -> FamilyCapture.Layout {
        let format = format.layoutFormat(hasClassicNames: hasClassicNames)
        if let layout = series.layouts[format], layout.seriesCount == series.members.count { return .kept(layout) }
        let (members, hidden) = (series.members, series.hiddenUntilUsed)
        return .missing { [descriptor, shape] in
            let values = members.map(\.labelValues)
            if format.encoding == .protobuf {
                return ProtobufLayout(descriptor, format, shape: shape, labelValues: values, hiddenUntilUsed: hidden)
            }
            return TextLayout(
                descriptor,
                format,
                shape: shape,
                labelValues: values,
                created: members.map(\.created),
                hiddenUntilUsed: hidden
            )
        }
    }

    func keep(_ layout: any PageLayout, for format: ExpositionFormat, generation: Int) {
        let format = format.layoutFormat(hasClassicNames: hasClassicNames)
        series.withLock { series in
            guard generation == self.generation else { return }
            if let kept = series.layouts[format], kept.seriesCount > layout.seriesCount { return }
            series.layouts[format] = layout
        }
    }
}
