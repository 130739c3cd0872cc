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
    }

    /// The most words of a tag; the latest are kept.
    private static let limit = 8
    /// The most schedules; those persisted last are kept.
    private static let scheduleLimit = 16
    /// Storage told twice within 5 s is one incident.
    private static let incidentMicroseconds: Int64 = 5_000_000

    /// Ascending. A word is the time in microseconds, eight times, and the tag.
    private(set) var words: [Int64] = []
    /// The schedules that were persisted, ascending: the second, and 32 bits of the schedule's hash.
    private(set) var persisted: [UInt64] = []

    /// Records something of a time.
    mutating func record(_ tag: Tag, at time: Timestamp) { restore(time.microseconds &* 8 | tag.rawValue) }

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

    /// Whether the installation tells of persisting, and has not told so of this schedule; 0 for a cycle without one.
    func lacksPersisted(_ schedule: UInt64) -> Bool {
        !persisted.isEmpty && !persisted.contains { $0 & 0xFFFF_FFFF == schedule & 0xFFFF_FFFF }
    }
}

extension LifecycleFold {
    /// Records what an event tells of its installation's cache, calls and database.
    ///
    /// - Parameter schedule: the hash of the event's schedule; nil without one.
    mutating func recordContent(_ event: borrowing Event, schedule: UInt64?, _ fingerprint: UInt64) {
        let time = event.timestamp
        switch event.kind {
        case .schedulePersisted:
            installations.updateLists(fingerprint) { $0.content.recordPersisted(schedule ?? 0, at: time) }
        case .cacheCleared where !event.isTimeAssumed:
            installations.updateLists(fingerprint) { $0.content.record(.cacheCleared, at: time) }
        case .apiCall where !event.isTimeAssumed:
            guard let isConditional = event.isConditional else { return }
            installations.updateLists(fingerprint) {
                $0.content.record(isConditional ? .conditionalCall : .plainCall, at: time)
            }
        default: return
        }
        groups[0].evictedInstallations = installations.evicted
    }

    /// Whether an event tells again of storage that failed: `Storage unavailable` behind `Cache write failed`.
    mutating func isStorageToldAgain(_ event: borrowing Event, _ fingerprint: UInt64) -> Bool {
        var isUnavailable = false
        if event.error.isEmpty { isUnavailable = event.reason == .system ? true : event.usedCached == false }
        let time = event.timestamp
        defer { groups[0].evictedInstallations = installations.evicted }
        return installations.updateLists(fingerprint) {
            $0.content.recordStorage(isUnavailable ? .storageUnavailable : .writeFailed, at: time)
        }
    }
}
