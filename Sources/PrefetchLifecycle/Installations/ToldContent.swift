// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an installation told of its cache, its calls and its database, for the rules about content.
struct ToldContent: Sendable {
    /// What a word tells. Raw values are stored in checkpoints.
    enum Tag: Int64 {
        case cacheCleared = 0
        /// A call without an ETag, and one with.
        case plainCall = 1
        case conditionalCall = 2
        /// A write to the cache that failed, and storage that was unavailable.
        case writeFailed = 3
        case storageUnavailable = 4
        /// Two lines of one incident.
        case incident = 5
        /// Content that was fetched or cached with a `ttl`, and with a hash.
        case ttl = 6
        case hash = 7
    }

    /// The most words of a tag; the latest are kept.
    private static let limit = 8
    /// How much later content may be fetched than its age tells, which is rounded, and how much earlier: 1 s and a minute.
    private static let fetchSeconds: (before: Int64, after: Int64) = (60, 1)
    /// The most schedules; those persisted last are kept.
    private static let scheduleLimit = 16
    /// Storage told twice within 5 s is one incident.
    private static let incidentMicroseconds: Int64 = 5_000_000

    /// Ascending. A word is the time in microseconds, eight times, and the tag. Of fetched content it is the second, 2^19
    /// times, its `ttl` as coded or 16 bits of its hash, eight times, and the tag.
    private(set) var words: [Int64] = []
    /// The schedules that were persisted, ascending: the second, and 32 bits of the schedule's hash.
    private(set) var persisted: [UInt64] = []

    /// Records something of a time.
    mutating func record(_ tag: Tag, at time: Timestamp) { restore(time.microseconds &* 8 | tag.rawValue) }

    /// Records what was told of content with its fetch.
    mutating func recordFetch(_ tag: Tag, _ value: UInt16, at time: Timestamp) {
        restore(time.wholeSeconds << 19 | Int64(value) << 3 | tag.rawValue)
    }

    /// The `ttl` as coded, or the bits of the hash, of the content that was fetched at about a time; nil where it is not
    /// known.
    func fetched(_ tag: Tag, about time: Timestamp) -> UInt16? {
        let second = time.wholeSeconds
        for word in words.reversed() where word & 7 == tag.rawValue && word >> 19 <= second + Self.fetchSeconds.after {
            return word >> 19 < second - Self.fetchSeconds.before ? nil : UInt16(truncatingIfNeeded: word >> 3)
        }
        return nil
    }

    /// Whether content was fetched at about a time, as far as a `ttl` or a hash was told with it.
    func hasFetch(about time: Timestamp) -> Bool {
        fetched(.ttl, about: time) != nil || fetched(.hash, about: time) != nil
    }

    /// Records a word, also from a checkpoint. Past the limit the earliest one of its tag is dropped.
    mutating func restore(_ word: Int64) {
        var place = words.count
        while place > 0, words[place - 1] >= word {
            if words[place - 1] == word { return }
            place -= 1
        }
        words.insert(word, at: place)
        guard words.count(where: { $0 & 7 == word & 7 }) > Self.limit,
            let first = words.firstIndex(where: { $0 & 7 == word & 7 })
        else { return }
        words.remove(at: first)
    }

    /// Whether it told of a call without an ETag.
    var hasPlainCalls: Bool { words.contains { $0 & 7 == Tag.plainCall.rawValue } }

    /// The latest of some tags before a time; of one moment the one with the highest raw value.
    func latest(_ tags: [Tag], before time: Timestamp) -> (tag: Tag, time: Timestamp)? {
        latest(tags) { $0 < time.microseconds }
    }

    /// The latest of some tags until a time.
    func latest(_ tags: [Tag], through time: Timestamp) -> (tag: Tag, time: Timestamp)? {
        latest(tags) { $0 <= time.microseconds }
    }

    private func latest(_ tags: [Tag], where isEarlier: (Int64) -> Bool) -> (tag: Tag, time: Timestamp)? {
        for word in words.reversed() where isEarlier(word >> 3) {
            if let tag = Tag(rawValue: word & 7), tags.contains(tag) {
                return (tag, Timestamp(microseconds: word >> 3))
            }
        }
        return nil
    }

    /// Records a line about storage; returns whether it is the second one of its incident.
    mutating func recordStorage(_ tag: Tag, at time: Timestamp) -> Bool {
        let (other, sign): (Tag, Int64) = tag == .writeFailed ? (.storageUnavailable, 1) : (.writeFailed, -1)
        let place = words.firstIndex { word in
            let after = ((word >> 3) - time.microseconds) * sign
            return word & 7 == other.rawValue && after >= 0 && after <= Self.incidentMicroseconds
        }
        guard let place else {
            record(tag, at: time)
            return false
        }
        let word = words.remove(at: place)
        restore(word & ~7 | Tag.incident.rawValue)
        return true
    }

    /// Records that a schedule was persisted.
    mutating func recordPersisted(_ schedule: UInt64, at time: Timestamp) {
        restorePersisted(UInt64(UInt32(clamping: time.wholeSeconds)) << 32 | schedule & 0xFFFF_FFFF)
    }

    /// Records a persisted schedule from a checkpoint. One that is persisted again keeps the later time.
    mutating func restorePersisted(_ word: UInt64) {
        if let place = persisted.firstIndex(where: { $0 & 0xFFFF_FFFF == word & 0xFFFF_FFFF }) {
            guard persisted[place] < word else { return }
            persisted.remove(at: place)
        }
        persisted.insert(word, at: persisted.firstIndex { $0 > word } ?? persisted.count)
        if persisted.count > Self.scheduleLimit { persisted.removeFirst() }
    }

    /// The end of the second in which a schedule was persisted last; nil where that is not known.
    func persisted(_ schedule: UInt64) -> Timestamp? {
        guard schedule != 0, let word = persisted.first(where: { $0 & 0xFFFF_FFFF == schedule & 0xFFFF_FFFF }) else {
            return nil
        }
        return Timestamp(microseconds: Int64(word >> 32) * 1_000_000 + 999_999)
    }

    /// Whether the installation tells of persisting, and has not told so of this schedule; 0 for a cycle without one.
    func lacksPersisted(_ schedule: UInt64) -> Bool {
        !persisted.isEmpty && !persisted.contains { $0 & 0xFFFF_FFFF == schedule & 0xFFFF_FFFF }
    }
}

extension LifecycleFold {
    /// Records what an event tells of its installation's cache, calls and database.
    ///
    /// - Parameter schedule: the hash of the event's schedule; nil without one.
    mutating func recordContent(
        _ event: borrowing Event,
        schedule: UInt64?,
        _ fingerprint: UInt64,
        in bytes: Span<UInt8>
    ) {
        let time = event.timestamp
        switch event.kind {
        case .schedulePersisted:
            installations.updateLists(fingerprint) { $0.content.recordPersisted(schedule ?? 0, at: time) }
        case .cacheCleared where !event.isTimeAssumed:
            installations.updateLists(fingerprint) { $0.content.record(.cacheCleared, at: time) }
        case .apiCall:
            guard let isConditional = event.isConditional else { return }
            installations.updateLists(fingerprint) {
                $0.content.record(isConditional ? .conditionalCall : .plainCall, at: time)
            }
        case .prefetchSuccess, .contentCached:
            guard isTracked(fingerprint), !event.isTimeAssumed else { return }
            let ttl = event.ttl.map { CodedTTL($0).rawValue }
            let hash = event.contentHash.isEmpty ? nil : HashFingerprint(event.contentHash, in: bytes).value
            if ttl == nil, hash == nil { return }
            installations.updateLists(fingerprint) {
                if let ttl { $0.content.recordFetch(.ttl, ttl, at: time) }
                if let hash { $0.content.recordFetch(.hash, UInt16(truncatingIfNeeded: hash), at: time) }
            }
        default: return
        }
    }

    /// Notes storage that failed.
    ///
    /// - Returns: whether it was told before: `Storage unavailable` behind `Cache write failed`.
    mutating func noteStorage(_ event: borrowing Event, _ fingerprint: UInt64) -> Bool {
        var isUnavailable = false
        if event.error.isEmpty { isUnavailable = event.reason == .system ? true : event.usedCached == false }
        let time = event.timestamp
        return installations.updateLists(fingerprint) {
            $0.content.recordStorage(isUnavailable ? .storageUnavailable : .writeFailed, at: time)
        }
    }
}
