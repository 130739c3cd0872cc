// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What the apps told of their pending notifications, summed up over the installations that told it within 48 hours
/// (docs/lifecycle.md, The plugin's schedule).
public struct PendingNotifications: Hashable, Sendable {
    /// None.
    public init() {}

    /// The pending notifications.
    public internal(set) var pending: UInt64 = 0
    /// The most that may be pending, where a limit was told.
    public internal(set) var limit: UInt64 = 0
    /// The installations with at least 90 % of their limit.
    public internal(set) var nearLimit: UInt64 = 0

    /// Adds what other installations told.
    static func += (sum: inout PendingNotifications, other: PendingNotifications) {
        sum.pending &+= other.pending
        sum.limit &+= other.limit
        sum.nearLimit &+= other.nearLimit
    }
}

/// The latest window of each installation that told one within 48 hours, and their sums. 40 bytes an installation.
///
/// Memory is limited by `limit`: past it the installation that was heard of longest ago is forgotten.
struct RollingWindows: Sendable {
    private static let keptMicroseconds: Int64 = 48 * 3_600 * 1_000_000
    /// The most installations.
    static let limit = 100_000
    static let prefix = "windows/"
    private static let pageCount = 64
    private static let entryBytes = 40

    /// One installation's window.
    struct Entry: Sendable {
        /// When the event arrived, by the ledger's clock, and when it happened.
        var seen: Timestamp
        var time: Timestamp
        var pending: UInt32
        /// 0 where none was told.
        var limit: UInt32
    }

    private(set) var sums = PendingNotifications()
    private var entries: [UInt64: Entry] = [:]
    /// Installations by the time that they were seen, ascending; one may stand in it again for each event.
    private var queue: [(seen: Timestamp, fingerprint: UInt64)] = []
    private var head = 0
    private var dirty = [Bool](repeating: false, count: pageCount)

    /// Takes a window; an older one than the last of its installation changes nothing but when that was seen.
    mutating func record(_ window: RollingWindow, of fingerprint: UInt64, at time: Timestamp, seen: Timestamp) {
        guard let pending = window.pending else { return }
        var entry = Entry(
            seen: seen,
            time: time,
            pending: UInt32(clamping: pending),
            limit: UInt32(clamping: window.limit ?? 0)
        )
        if let last = entries[fingerprint] {
            let isLater =
                (time.microseconds, entry.pending, entry.limit) > (last.time.microseconds, last.pending, last.limit)
            if !isLater { entry = last }
            entry.seen = max(seen, last.seen)
            count(last, times: -1)
        } else if entries.count >= Self.limit {
            forgetFirst()
        }
        insert(entry, of: fingerprint)
        dropStale()
        compact()
    }

    /// Forgets what was seen more than 48 hours before.
    mutating func advance(to now: Timestamp) {
        while isDue(at: now) { forgetFirst() }
    }

    /// Forgets at the end of a file, whose events may come in any order, what was told more than 48 hours before.
    mutating func finish(at now: Timestamp) {
        rebuildQueue()
        advance(to: now)
    }

    /// Whether something was seen more than 48 hours before.
    func isDue(at now: Timestamp) -> Bool {
        head < queue.count && queue[head].seen.microseconds < now.microseconds - Self.keptMicroseconds
    }

    private mutating func insert(_ entry: Entry, of fingerprint: UInt64) {
        entries[fingerprint] = entry
        count(entry, times: 1)
        queue.append((entry.seen, fingerprint))
        dirty[Self.page(of: fingerprint)] = true
    }

    /// Forgets the installation that was seen longest ago.
    private mutating func forgetFirst() {
        guard head < queue.count else { return }
        let first = queue[head]
        head += 1
        if let entry = entries.removeValue(forKey: first.fingerprint) { count(entry, times: -1) }
        dirty[Self.page(of: first.fingerprint)] = true
        dropStale()
    }

    /// Drops the first ones of the queue while they were seen again.
    private mutating func dropStale() {
        while head < queue.count, entries[queue[head].fingerprint]?.seen != queue[head].seen { head += 1 }
    }

    /// Keeps the queue at no more than about twice the installations.
    private mutating func compact() {
        guard queue.count > 2 * entries.count + 64 else { return }
        rebuildQueue()
    }

    private mutating func rebuildQueue() {
        queue = entries.map { ($0.value.seen, $0.key) }
        queue.sort { ($0.seen.microseconds, $0.fingerprint) < ($1.seen.microseconds, $1.fingerprint) }
        head = 0
    }

    private mutating func count(_ entry: Entry, times sign: Int64) {
        func sum(_ sum: UInt64, _ value: UInt32) -> UInt64 { sum &+ UInt64(bitPattern: sign &* Int64(value)) }
        sums.pending = sum(sums.pending, entry.pending)
        sums.limit = sum(sums.limit, entry.limit)
        let isNear = entry.limit > 0 && UInt64(entry.pending) * 10 >= UInt64(entry.limit) * 9
        sums.nearLimit = sum(sums.nearLimit, isNear ? 1 : 0)
    }

    private static func page(of fingerprint: UInt64) -> Int { Int(fingerprint % UInt64(pageCount)) }
}

extension RollingWindows {
    /// By how much an event may raise `checkpointBytes`.
    static let bytesPerEvent = entryBytes

    /// The bytes that all pages of a checkpoint take.
    var checkpointBytes: Int { entries.count * Self.entryBytes }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        guard dirty.contains(true) else { return }
        var pages = [[(UInt64, Entry)]](repeating: [], count: Self.pageCount)
        for (fingerprint, entry) in entries where dirty[Self.page(of: fingerprint)] {
            pages[Self.page(of: fingerprint)].append((fingerprint, entry))
        }
        for page in pages.indices where dirty[page] {
            dirty[page] = false
            var value = StateWriter()
            // Sorted, so that the same state is the same bytes.
            for (fingerprint, entry) in pages[page].sorted(by: { $0.0 < $1.0 }) {
                value.append(fingerprint)
                value.append(entry.seen.microseconds)
                value.append(entry.time.microseconds)
                value.append(entry.pending)
                value.append(entry.limit)
            }
            delta.append(StatePage(key: Self.prefix + StatePage.sortable(UInt32(page)), value: value.bytes))
        }
    }

    /// Restores a page of a checkpoint.
    mutating func restore(_ page: StatePage) throws(StateError) {
        var reader = StateReader(page)
        while reader.remaining > 0 {
            let fingerprint = try reader.word()
            let seen = Timestamp(microseconds: try reader.integer())
            let time = Timestamp(microseconds: try reader.integer())
            let pending: UInt32 = try reader.integer()
            let limit: UInt32 = try reader.integer()
            let entry = Entry(seen: seen, time: time, pending: pending, limit: limit)
            entries[fingerprint] = entry
            count(entry, times: 1)
        }
        rebuildQueue()
    }
}
