// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The series of one metric name: found without a lock, created under one, never removed.
final class InstrumentFamily<Member: Instrument>: ExposedFamily {
    /// What the values of all labels are in the series that takes what is past a limit.
    static var overflowValue: String { "other" }

    let descriptor: MetricDescriptor
    let shape: SampleShape
    let isComputed: Bool

    private struct Series {
        var members: ContiguousArray<Member> = []
        /// The places in `members` of the series that a page leaves out while they are zero.
        var hiddenUntilUsed: Set<Int> = []
        /// Every table that was ever current, since a reader may still be in an outgrown one.
        var tables: [SeriesSlots<Member>]
    }

    private let rules: FamilyRules
    private let seed = UInt64.random(in: 0...UInt64.max)
    private let series: Mutex<Series>
    private let table: CurrentSlots<Member>
    private let isFull = Atomic(false)
    private let layout = Mutex<TextLayout?>(nil)

    init(_ descriptor: MetricDescriptor, shape: SampleShape, isComputed: Bool = false, rules: FamilyRules) {
        self.descriptor = descriptor
        self.shape = shape
        self.isComputed = isComputed
        self.rules = rules
        let first = SeriesSlots<Member>(capacity: descriptor.labelNames.isEmpty ? 4 : 16)
        table = CurrentSlots(first)
        series = Mutex(Series(tables: [first]))
    }

    /// The series of these label values, in the order of the descriptor's label names; the overflow series when their
    /// number is wrong, one is too long, or the family is full.
    func member(_ values: [String], hiddenUntilUsed: Bool = false) -> Member {
        var hash = LabelHash(seed: seed)
        for value in values { hash.combine(value) }
        return find(hash.value) { $0.labelValues == values }
            ?? create(values, hash: hash.value, hiddenUntilUsed: hiddenUntilUsed)
    }

    @inline(__always)
    func member(_ value: String) -> Member {
        var hash = LabelHash(seed: seed)
        hash.combine(value)
        return find(hash.value) { $0.labelValues.count == 1 && $0.labelValues[0] == value }
            ?? create([value], hash: hash.value)
    }

    @inline(__always)
    func member(_ first: String, _ second: String) -> Member {
        var hash = LabelHash(seed: seed)
        hash.combine(first)
        hash.combine(second)
        return find(hash.value) {
            $0.labelValues.count == 2 && $0.labelValues[0] == first && $0.labelValues[1] == second
        } ?? create([first, second], hash: hash.value)
    }

    @inline(__always)
    func member(_ first: String, _ second: String, _ third: String) -> Member {
        var hash = LabelHash(seed: seed)
        hash.combine(first)
        hash.combine(second)
        hash.combine(third)
        return find(hash.value) {
            $0.labelValues.count == 3 && $0.labelValues[0] == first && $0.labelValues[1] == second
                && $0.labelValues[2] == third
        } ?? create([first, second, third], hash: hash.value)
    }

    /// The series that takes what is past a limit; counts the look-up as overflowed.
    func overflow() -> Member {
        rules.overflowedLookups.add()
        let values = overflowValues
        let hash = hash(of: values)
        if let member = find(hash, where: { $0.labelValues == values }) { return member }
        return series.withLock { insert(values, hash: hash, into: &$0) }
    }

    @inline(__always)
    private func find(_ hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        table.member(hash: hash, where: matches)
    }

    @inline(never)
    private func create(_ values: [String], hash: UInt64, hiddenUntilUsed: Bool = false) -> Member {
        guard !isFull.load(ordering: .relaxed), rules.accepts(values, for: descriptor) else { return overflow() }
        let member: Member? = series.withLock { series in
            if let member = find(hash, where: { $0.labelValues == values }) { return member }
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
        if let member = find(hash, where: { $0.labelValues == values }) { return member }
        let member = Member(rules.seed(values, shape: shape))
        series.members.append(member)
        var current = series.tables[series.tables.count - 1]
        if current.isCrowded {
            current = SeriesSlots(capacity: current.capacity * 2)
            for earlier in series.members.dropLast() {
                current.insert(earlier, hash: self.hash(of: earlier.labelValues))
            }
            series.tables.append(current)
        }
        current.insert(member, hash: hash)
        table.publish(current)
        return member
    }

    private var overflowValues: [String] {
        Array(repeating: Self.overflowValue, count: descriptor.labelNames.count)
    }

    private func hash(of values: [String]) -> UInt64 {
        var hash = LabelHash(seed: seed)
        for value in values { hash.combine(value) }
        return hash.value
    }

    // MARK: Scraping

    func copy(into words: inout ScrapedWords) -> Int {
        series.withLock { series in
            let count = series.members.count
            words.append(count * shape.wordsPerSeries) { Member.copy(series.members.span, into: &$0, from: $1) }
            return count
        }
    }

    func textLayout(covering seriesCount: Int) -> TextLayout {
        if let layout = layout.withLock({ $0 }), layout.seriesCount >= seriesCount { return layout }
        let (members, hidden) = series.withLock { ($0.members, $0.hiddenUntilUsed) }
        let fresh = TextLayout(
            descriptor,
            shape: shape,
            labelValues: members.map(\.labelValues),
            hiddenUntilUsed: hidden
        )
        return layout.withLock { cached in
            if let cached, cached.seriesCount >= fresh.seriesCount { return cached }
            cached = fresh
            return fresh
        }
    }
}
