// SPDX-License-Identifier: Apache-2.0

/// The places of facts that tell the same between two starts, each less than a moment behind the one before it, and of
/// others among them.
struct MomentChain: RandomAccessCollection {
    let key: UInt64
    /// What is stamped with the whole second of the start before them.
    let early: Range<Int>
    let places: Range<Int>
    /// The start behind them, where it is less than a moment away.
    let next: Int?

    var startIndex: Int { 0 }
    var endIndex: Int { early.count + places.count }
    subscript(position: Int) -> Int {
        position < early.count ? early.lowerBound + position : places.lowerBound + position - early.count
    }

    /// Whether a fact at one of the places tells the same, and is not stamped with the whole second of the next start.
    func has(_ facts: [RefreshFact], _ place: Int) -> Bool {
        let fact = facts[place]
        guard fact.momentKey == key else { return false }
        guard let next, place >= places.lowerBound, fact.isWholeSecond, facts[next].isStartWithinSecond else {
            return true
        }
        return facts[next].time - fact.time >= RefreshRules.second
    }
}

extension RefreshFact {
    /// Whether a line and an analytics event may tell of one moment. Lines without a time are in order, so that each is a
    /// moment of its own.
    func isOfOneMoment(with other: RefreshFact) -> Bool {
        isAnalytics != other.isAnalytics && !isAssumed && abs(time - other.time) < RefreshRules.moment
    }
}

extension [RefreshFact] {
    /// The last start in the second that a fact is stamped with, where its stamp has no fraction: it may be of that run.
    func lastStart(inSecondOf place: Int) -> Int? {
        let fact = self[place]
        guard fact.isWholeSecond else { return nil }
        var last = firstPlace(from: fact.time + RefreshRules.second) - 1
        while self[last].time > fact.time, !self[last].isStartWithinSecond { last -= 1 }
        return self[last].time > fact.time ? last : nil
    }

    /// As many facts before a start may be of its run.
    private static var mostEarly: Int { 64 }

    /// The facts that are stamped with the whole second of a start, where it is the last one of that second.
    func places(ofSecondOf start: Int) -> Range<Int> {
        guard self[start].isStartWithinSecond else { return start..<start }
        let second = self[start].time - self[start].time % RefreshRules.second
        for fact in self[(start + 1)...] {
            if fact.time - second >= RefreshRules.second { break }
            if fact.isStartWithinSecond { return start..<start }
        }
        let end = firstPlace(from: second + 1)
        return Swift.max(firstPlace(from: second), end - Self.mostEarly)..<end
    }

    private func firstPlace(from time: Int64) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].time < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The facts around one of them that follow each other in less than a moment, with no start between them.
    func momentChain(around place: Int) -> MomentChain? {
        guard let key = self[place].momentKey else { return nil }
        if let start = lastStart(inSecondOf: place) {
            let last = chainEnd(from: place, by: 1, behind: start, key)
            let behind = (start + 1)..<(Swift.max(last.place, start) + 1)
            return MomentChain(key: key, early: places(ofSecondOf: start), places: behind, next: last.start)
        }
        let first = chainEnd(from: place, by: -1, behind: place, key)
        let last = chainEnd(from: place, by: 1, behind: place, key)
        let early = first.start.map(places(ofSecondOf:)) ?? place..<place
        return MomentChain(key: key, early: early, places: first.place..<(last.place + 1), next: last.start)
    }

    /// The last of the facts in one direction that follow each other in less than a moment, and the start at which they
    /// end.
    private func chainEnd(
        from place: Int,
        by step: Int,
        behind origin: Int,
        _ key: UInt64
    ) -> (place: Int, start: Int?) {
        var last = place
        var index = origin + step
        while indices.contains(index) {
            guard abs(self[index].time - self[last].time) < RefreshRules.moment else { break }
            if self[index].kind == .started { return (last, index) }
            if self[index].momentKey == key { last = index }
            index += step
        }
        return (last, nil)
    }
}
