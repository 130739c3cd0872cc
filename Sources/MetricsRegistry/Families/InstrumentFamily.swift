// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The series of one metric name: looked up without a lock, created and removed under one.
///
/// The first removal ends lock-free lookups: the table that they read is then frozen, with its series, for the
/// lifetime of the family, since a reader may still be in it. Later lookups take the lock.
final class InstrumentFamily<Member: Instrument>: ExposedFamily {
    let descriptor: MetricDescriptor
    let shape: SampleShape

    private struct Series {
        var members: ContiguousArray<Member> = []
        /// The indices in `members` of the series that a page omits while they are zero.
        var hiddenUntilUsed: Set<Int> = []
        /// The table of all series.
        var current: SeriesSlots<Member>
        /// The overflow series, which counts towards no limit.
        var overflow: Member?
        /// The bytes of the label values of all other series.
        var labelBytes = 0
        /// The index of each series in `members`; empty until one is removed.
        var places: [ObjectIdentifier: Int] = [:]
        /// Every table that lock-free readers may still use, and its series.
        var outgrown: [SeriesSlots<Member>] = []
        var frozen: ContiguousArray<Member> = []
        /// By format; families with classic names share one for all escapings.
        var layouts: [ExpositionFormat: any PageLayout] = [:]

        /// The layout of all series for a page in `format`, if a scrape has kept one.
        func layout(_ format: ExpositionFormat) -> (any PageLayout)? {
            let shared = layouts[format.layoutFormat(hasClassicNames: true)]
            if let shared, shared.hasClassicNames, shared.seriesCount == members.count { return shared }
            let own = layouts[format.layoutFormat(hasClassicNames: false)]
            return own?.seriesCount == members.count ? own : nil
        }
    }

    private let rules: FamilyRules
    private let seed = UInt64.random(in: 0...UInt64.max)
    private let series: Mutex<Series>
    private let table: CurrentSlots<Member>
    private let isFull = Atomic(false)
    let removals = SeriesRemovals()

    init(_ descriptor: MetricDescriptor, shape: SampleShape, rules: FamilyRules) {
        self.descriptor = descriptor
        self.shape = shape
        self.rules = rules
        let first = SeriesSlots<Member>(capacity: descriptor.hasLabels ? 16 : 4)
        table = CurrentSlots(first)
        series = Mutex(Series(current: first))
    }

    /// The series of these label values, in the order of the descriptor's label names; the overflow series if their
    /// number is wrong, one is too long, or the family is full.
    func member(_ values: [String], hiddenUntilUsed: Bool = false) -> Member {
        var hash = LabelHash(seed: seed)
        for value in values { hash.combine(value) }
        return find(hash.value) { $0.labelValues == values }
            ?? create(values, hash: hash.value, hiddenUntilUsed: hiddenUntilUsed)
    }

    /// The overflow series; counts the lookup as overflowed.
    func overflow() -> Member {
        rules.overflowedLookups.add()
        let values = descriptor.overflowValues
        let hash = hash(of: values)
        if let member = find(hash, where: { $0.labelValues == values }) { return member }
        return series.withLock { series in
            if let member = series.current.member(hash: hash, where: { $0.labelValues == values }) { return member }
            let member = insert(values, hash: hash, into: &series)
            series.overflow = member
            return member
        }
    }

    /// The series with this hash for which `matches` holds, without retaining it: valid for as long as the family, and
    /// only while no series was ever removed.
    @inline(__always)
    private func reference(_ hash: UInt64, where matches: (Member) -> Bool) -> Unmanaged<Member>? {
        generation == 0 ? unsafe table.reference(hash: hash, where: matches) : nil
    }

    @inline(__always)
    private func find(_ hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        if generation != 0 { return findLocked(hash, where: matches) }
        return table.member(hash: hash, where: matches)
    }

    @inline(never)
    private func findLocked(_ hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        series.withLock { $0.current.member(hash: hash, where: matches) }
    }

    @inline(never)
    private func create(_ values: [String], hash: UInt64, hiddenUntilUsed: Bool = false) -> Member {
        guard !isFull.load(ordering: .relaxed), rules.accepts(values, for: descriptor) else { return overflow() }
        let member: Member? = series.withLock { series in
            if let member = series.current.member(hash: hash, where: { $0.labelValues == values }) { return member }
            if series.members.count - (series.overflow == nil ? 0 : 1) >= rules.maximumSeries {
                isFull.store(true, ordering: .relaxed)
                return nil
            }
            let bytes = Self.bytes(of: values)
            if series.labelBytes + bytes > rules.maximumLabelBytes { return nil }
            series.labelBytes += bytes
            if hiddenUntilUsed { series.hiddenUntilUsed.insert(series.members.count) }
            return insert(values, hash: hash, into: &series)
        }
        return member ?? overflow()
    }

    private static func bytes(of values: [String]) -> Int {
        values.reduce(0) { $0 + $1.utf8.count }
    }

    /// Adds a new series.
    private func insert(_ values: [String], hash: UInt64, into series: inout Series) -> Member {
        let member = Member(rules.seed(values, shape: shape))
        if generation != 0 { series.places[ObjectIdentifier(member)] = series.members.count }
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

    /// The number of removals of series so far.
    @inline(__always) var generation: Int { removals.count }

    /// Removes the series of these label values; false if there is none.
    func remove(_ values: [String]) -> Bool {
        let hash = hash(of: values)
        return series.withLock { series in
            guard let member = series.current.member(hash: hash, where: { $0.labelValues == values }) else {
                return false
            }
            take(member, hash: hash, outOf: &series)
            return true
        }
    }

    /// Whether a series is still on the page.
    func contains(_ member: Member) -> Bool {
        find(hash(of: member.labelValues)) { $0 === member } != nil
    }

    /// Removes a series; false if it is already removed or is the overflow series.
    func remove(_ member: Member) -> Bool {
        let hash = hash(of: member.labelValues)
        return series.withLock { series in
            guard member !== series.overflow, series.current.member(hash: hash, where: { $0 === member }) != nil else {
                return false
            }
            take(member, hash: hash, outOf: &series)
            return true
        }
    }

    /// Removes all series.
    func removeAll() {
        series.withLock { series in
            stopReadingWithoutLock(&series)
            series.current = SeriesSlots(capacity: 16)
            series.overflow = nil
            series.labelBytes = 0
            series.places.removeAll()
            series.members.removeAll()
            series.hiddenUntilUsed.removeAll()
            series.layouts.removeAll()
            isFull.store(false, ordering: .relaxed)
        }
    }

    /// Moves the last series into the slot of the removed one.
    private func take(_ member: Member, hash: UInt64, outOf series: inout Series) {
        stopReadingWithoutLock(&series)
        series.current.remove(member, hash: hash) { self.hash(of: $0.labelValues) }
        if member === series.overflow {
            series.overflow = nil
        } else {
            series.labelBytes -= Self.bytes(of: member.labelValues)
        }
        let last = series.members.count - 1
        guard let place = series.places.removeValue(forKey: ObjectIdentifier(member)) else { return }
        let lastIsHidden = series.hiddenUntilUsed.remove(last) != nil
        if place != last {
            series.hiddenUntilUsed.remove(place)
            if lastIsHidden { series.hiddenUntilUsed.insert(place) }
            series.members.swapAt(place, last)
            series.places[ObjectIdentifier(series.members[place])] = place
        }
        series.members.removeLast()
        series.layouts.removeAll()
        isFull.store(false, ordering: .relaxed)
    }

    private func stopReadingWithoutLock(_ series: inout Series) {
        if generation == 0 {
            series.frozen = series.members
            series.outgrown.append(series.current)
            series.current = table(of: series.members, capacity: series.current.capacity)
            for (place, member) in series.members.enumerated() { series.places[ObjectIdentifier(member)] = place }
        }
        removals.add()
    }

    private func hash(of values: [String]) -> UInt64 {
        var hash = LabelHash(seed: seed)
        for value in values { hash.combine(value) }
        return hash.value
    }

    // MARK: Scraping

    /// What a scrape reads under the lock; values are copied after it is released.
    private struct Shown {
        let members: ContiguousArray<Member>
        let layout: FamilyCapture.Layout
        let generation: Int
    }

    func capture(_ format: ExpositionFormat, into scraped: inout ScrapedState) -> FamilyCapture {
        let shown = series.withLock {
            Shown(members: $0.members, layout: layout(format, of: $0), generation: generation)
        }
        let members = shown.members.span
        let values = scraped.words.append(members.count * shape.wordsPerSeries) {
            Member.copy(members, into: &$0, from: $1)
        }
        let created = scraped.words.append(format.showsCreated ? members.count : 0) {
            if format.showsCreated { Member.copyCreated(members, into: &$0, from: $1) }
        }
        let firstExemplar = scraped.exemplars.count
        if format.hasExemplars { Member.copyExemplars(members, into: &scraped.exemplars) }
        let firstSparse = scraped.words.count
        if format.hasSparseBuckets { Member.copySparseBuckets(members, into: &scraped.words) }
        return FamilyCapture(
            family: self,
            layout: shown.layout,
            generation: shown.generation,
            values: values,
            created: created,
            exemplars: firstExemplar..<scraped.exemplars.count,
            sparse: firstSparse..<scraped.words.count,
            seriesCount: members.count
        )
    }

    private func layout(_ format: ExpositionFormat, of series: Series) -> FamilyCapture.Layout {
        if let layout = series.layout(format) { return .kept(layout) }
        let format = format.layoutFormat(hasClassicNames: false)
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
        let format = format.layoutFormat(hasClassicNames: layout.hasClassicNames)
        series.withLock { series in
            guard generation == self.generation else { return }
            if let kept = series.layouts[format], kept.seriesCount > layout.seriesCount { return }
            series.layouts[format] = layout
        }
    }
}

/// Lookups of one to three label values, which allocate no array.
///
/// Those with a closure do not retain the series, which saves two atomic additions.
extension InstrumentFamily {
    @inline(__always)
    func member(_ value: String) -> Member {
        let hash = hash(value)
        return find(hash) { $0.has(value) } ?? create([value], hash: hash)
    }

    @inline(__always)
    func member(_ first: String, _ second: String) -> Member {
        let hash = hash(first, second)
        return find(hash) { $0.has(first, second) } ?? create([first, second], hash: hash)
    }

    @inline(__always)
    func member(_ first: String, _ second: String, _ third: String) -> Member {
        let hash = hash(first, second, third)
        return find(hash) { $0.has(first, second, third) } ?? create([first, second, third], hash: hash)
    }

    @inline(__always)
    func withMember(_ value: String, _ body: (Member) -> Void) {
        if let found = unsafe reference(hash(value), where: { $0.has(value) }) {
            return unsafe found._withUnsafeGuaranteedRef(body)
        }
        return body(member(value))
    }

    @inline(__always)
    func withMember(_ first: String, _ second: String, _ body: (Member) -> Void) {
        if let found = unsafe reference(hash(first, second), where: { $0.has(first, second) }) {
            return unsafe found._withUnsafeGuaranteedRef(body)
        }
        return body(member(first, second))
    }

    @inline(__always)
    private func hash(_ value: String) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(value)
        return hash.value
    }

    @inline(__always)
    private func hash(_ first: String, _ second: String) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(first)
        hash.combine(second)
        return hash.value
    }

    @inline(__always)
    private func hash(_ first: String, _ second: String, _ third: String) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(first)
        hash.combine(second)
        hash.combine(third)
        return hash.value
    }
}

extension Instrument {
    @inline(__always)
    fileprivate func has(_ value: String) -> Bool {
        let values = labelValues
        return values.count == 1 && values[0] == value
    }

    @inline(__always)
    fileprivate func has(_ first: String, _ second: String) -> Bool {
        let values = labelValues
        return values.count == 2 && values[0] == first && values[1] == second
    }

    @inline(__always)
    fileprivate func has(_ first: String, _ second: String, _ third: String) -> Bool {
        let values = labelValues
        return values.count == 3 && values[0] == first && values[1] == second && values[2] == third
    }
}
