// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The known installations, in pages of 256. Past the limit a new one evicts the one that was added first.
struct InstallationTable: Sendable {
    private var limit: Int
    private var pages: [[Installation]] = []
    private var index = SlotIndex()
    private var isDirty: [Bool] = []
    /// The slot of the latest lookup, because events of an installation arrive together.
    private var latestSlot = 0
    /// The number of evicted installations, which also gives the next slot to evict.
    var evicted: UInt64 = 0
    private(set) var count = 0
    /// Whether an installation has told of a warped clock, so that durations are looked at more closely.
    var hasWarps = false
    /// What tasks, permissions, histories and client counters take in a checkpoint.
    private var variableBytes = 0

    init(limit: Int) {
        self.limit = min(max(limit, 1), SlotIndex.slotLimit)
    }

    /// Changes the limit. Installations beyond it stay; each new one takes the place of an old one.
    mutating func limit(to limit: Int) {
        self.limit = min(max(limit, 1), SlotIndex.slotLimit)
    }

    /// The memory of the installations and their index, in bytes.
    var byteCount: Int {
        pages.reduce(0) { $0 + $1.capacity * MemoryLayout<Installation>.stride } + index.byteCount
    }

    subscript(slot: Int) -> Installation { _read { yield pages[slot &>> 8][slot & 0xFF] } }

    private subscript(fingerprint slot: Int) -> UInt64 { pages[slot &>> 8][slot & 0xFF].fingerprint }

    func find(_ fingerprint: UInt64) -> Installation? {
        guard let slot = slot(of: fingerprint) else { return nil }
        return self[slot]
    }

    /// Whether an installation has sent its own counters.
    func tellsCounters(_ fingerprint: UInt64) -> Bool {
        slot(of: fingerprint).map { !self[$0].client.isEmpty } ?? false
    }

    /// Whether an installation remembers more tasks than it does of closed cycles.
    func remembersTasks(of fingerprint: UInt64) -> Bool {
        slot(of: fingerprint).map { self[$0].tasks.count > Installation.closedTaskLimit } ?? false
    }

    /// What a cycle known by one name does not count yet.
    func waiting(_ half: CycleHalf, of fingerprint: UInt64) -> WaitingStages {
        slot(of: fingerprint).map { self[$0].halves.waiting(half) } ?? []
    }

    /// Where an installation is, which holds until the next one is added.
    @inline(__always)
    func slot(of fingerprint: UInt64) -> Int? {
        if latestSlot < count, self[fingerprint: latestSlot] == fingerprint { return latestSlot }
        return search(fingerprint)
    }

    private func search(_ fingerprint: UInt64) -> Int? {
        index.slot(fingerprint) { self[fingerprint: $0] == fingerprint }
    }

    /// Changes an installation; adds a new one.
    mutating func update<Result>(_ fingerprint: UInt64, _ body: (inout Installation) -> Result) -> Result {
        let slot = slot(of: fingerprint) ?? add(fingerprint)
        latestSlot = slot
        markDirty(slot)
        return body(&pages[slot &>> 8][slot & 0xFF])
    }

    /// Notes that the page of a slot has changed, where that is not noted yet.
    @inline(__always)
    private mutating func markDirty(_ slot: Int) {
        if !isDirty[slot &>> 8] { isDirty[slot &>> 8] = true }
    }

    /// The same for a change that may make its lists longer or shorter.
    mutating func updateLists<Result>(_ fingerprint: UInt64, _ body: (inout Installation) -> Result) -> Result {
        update(fingerprint) { _ in }
        let slot = latestSlot
        variableBytes -= self[slot].variableBytes
        defer { variableBytes += self[slot].variableBytes }
        return body(&pages[slot &>> 8][slot & 0xFF])
    }

    private mutating func add(_ fingerprint: UInt64) -> Int {
        guard count < limit else {
            let slot = Int(evicted % UInt64(count))
            variableBytes -= self[slot].variableBytes
            index.remove(slot, self[slot].fingerprint)
            pages[slot &>> 8][slot & 0xFF] = Installation(fingerprint: fingerprint)
            insert(slot, fingerprint)
            evicted += 1
            return slot
        }
        return append(Installation(fingerprint: fingerprint))
    }

    private mutating func append(_ installation: Installation) -> Int {
        let slot = count
        variableBytes += installation.variableBytes
        if slot &>> 8 == pages.count {
            pages.append([])
            isDirty.append(true)
        }
        pages[slot &>> 8].append(installation)
        isDirty[slot &>> 8] = true
        count += 1
        insert(slot, installation.fingerprint)
        return slot
    }

    private mutating func insert(_ slot: Int, _ fingerprint: UInt64) {
        if !index.hasRoom(for: fingerprint) {
            index.grow(for: fingerprint) { [pages] in pages[$0 &>> 8][$0 & 0xFF].fingerprint }
        }
        index.insert(slot, fingerprint)
    }
}

extension InstallationTable {
    static let prefix = "installations/"

    /// The size of an encoded installation without what `Installation.variableBytes` has.
    private static let fixedBytes = 158
    /// By how much an event may raise `checkpointBytes`: an installation, its task, a denial and its counters.
    static let bytesPerEvent =
        fixedBytes + Installation.taskBytes + Installation.permissionBytes + Installation.clientBytes
        + Installation.historyBytes + 2 * Installation.momentBytes + Installation.contentBytes

    /// The bytes that all pages of a checkpoint take.
    var checkpointBytes: Int { count * Self.fixedBytes + variableBytes }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        for page in pages.indices where isDirty[page] {
            delta.append { [installations = pages[page]] in
                Self.encode(installations, number: UInt32(page))
            }
            isDirty[page] = false
        }
    }

    static func encode(_ installations: [Installation], number: UInt32) -> StatePage {
        var value = StateWriter()
        for installation in installations { value.append(installation) }
        return StatePage(key: prefix + StatePage.sortable(number), value: value.bytes)
    }

    /// Restores a page of a checkpoint; pages come in order.
    ///
    /// - Parameter version: the version of the layout; pages of an older one are written anew.
    mutating func restore(_ page: StatePage, version: UInt8) throws(StateError) {
        var reader = StateReader(page)
        while reader.remaining > 0 {
            let installation = try reader.installation(version: version)
            if let history = installation.history.first, !history.warps.moments.isEmpty { hasWarps = true }
            _ = append(installation)
        }
        guard version == LifecycleFold.stateVersion else { return }
        for page in isDirty.indices { isDirty[page] = false }
    }
}

extension StateWriter {
    fileprivate mutating func append(_ installation: Installation) {
        append(installation.fingerprint)
        append(installation.latest.microseconds)
        for index in 0..<RecentSubmissions.limit { append(installation.submissions.seconds[index]) }
        append(UInt8(installation.permissions.words.count))
        for word in installation.permissions.words { append(word) }
        for index in 0..<RecentCounts.limit { append(installation.recent.words[index]) }
        append(installation.halves.word)
        let tasks = installation.tasks
        append(UInt8(tasks.count))
        for task in tasks {
            append(task.scheduled)
            append(task.freed)
            append(task.schedule)
            append(task.due.microseconds)
            append((task.isSecond ? 1 : 0) | (task.hasAssumedTimes ? 2 : 0) as UInt8)
        }
        for place in 0..<StageTally.count { append(installation.counted[place]) }
        append((installation.isAndroid ? 1 : 0) | (installation.history.isEmpty ? 0 : 2) as UInt8)
        if let history = installation.history.first { append(history) }
        append(UInt8(installation.content.words.count))
        for word in installation.content.words { append(word) }
        append(UInt8(installation.content.persisted.count))
        for word in installation.content.persisted { append(word) }
        append(UInt8(installation.client.count))
        guard let client = installation.client.first else { return }
        append(client.time.microseconds)
        for place in 0..<ClientBaseline.places {
            append(client.last[place])
            append(client.told[place])
            append(client.offsets[place])
        }
        for place in 0..<StageTally.count { append(client.recovered[place]) }
        append(client.baseTime.microseconds)
        append(client.formerTime.microseconds)
        for place in 0..<StageTally.count { append(client.formerRecovered[place]) }
        for place in 0..<StageTally.count { append(client.resetRecovered[place]) }
    }

    private mutating func append(_ history: InstallationHistory) {
        for list in InstallationHistory.lists {
            let list = history[keyPath: list]
            append(UInt8(list.moments.count) | (list.hasDropped ? 0x80 : 0))
            for moment in list.moments {
                append(moment.time.microseconds)
                append(moment.value)
            }
        }
    }
}

extension StateReader {
    fileprivate mutating func installation(version: UInt8) throws(StateError) -> Installation {
        var installation = Installation(fingerprint: try word())
        installation.latest = Timestamp(microseconds: try integer())
        if version == 1 {
            for _ in 0..<3 {
                let denied: Int64 = try integer()
                if denied != 0 {
                    installation.permissions.record(isGranted: false, at: Timestamp(microseconds: denied))
                }
            }
        }
        if version == 1 {
            let latest = Timestamp(microseconds: try integer())
            if latest.microseconds > 0 { installation.submissions.note(UInt32(clamping: latest.wholeSeconds)) }
        } else {
            for _ in 0..<RecentSubmissions.limit { installation.submissions.note(try integer()) }
            let permissions: UInt8 = try integer()
            for _ in 0..<permissions { installation.permissions.restore(try integer()) }
            for _ in 0..<RecentCounts.limit { installation.recent.note(try integer()) }
            installation.halves = OpenHalves(word: try word())
        }
        let tasks: UInt8 = try integer()
        for _ in 0..<tasks {
            let scheduled: Int64 = try integer()
            let freed: Int64 = try integer()
            let schedule: UInt64 = version > 2 ? try integer() : 0
            let due = Timestamp(microseconds: try integer())
            let flags: UInt8 = try integer()
            installation.restore(
                WaitingTask(
                    scheduled: scheduled,
                    freed: freed,
                    schedule: schedule,
                    due: due,
                    isSecond: flags & 1 != 0,
                    hasAssumedTimes: flags & 2 != 0
                )
            )
        }
        for place in 0..<StageTally.count { installation.counted[place] = try integer() }
        if version > 2 {
            let flags: UInt8 = try integer()
            installation.isAndroid = flags & 1 != 0
            if flags & 2 != 0 { installation.history = [try history()] }
            let words: UInt8 = try integer()
            for _ in 0..<words { installation.content.restore(try integer()) }
            let persisted: UInt8 = try integer()
            for _ in 0..<persisted { installation.content.restorePersisted(try integer()) }
        }
        let clients: UInt8 = try integer()
        if clients > 0 { installation.client = [try clientBaseline(version: version)] }
        return installation
    }

    private mutating func history() throws(StateError) -> InstallationHistory {
        var history = InstallationHistory()
        for list in InstallationHistory.lists {
            let count: UInt8 = try integer()
            var moments: [LatestMoments.Moment] = []
            for _ in 0..<count & 0x7F {
                let time = Timestamp(microseconds: try integer())
                moments.append(LatestMoments.Moment(time: time, value: try integer()))
            }
            history[keyPath: list].restore(moments, hasDropped: count & 0x80 != 0)
        }
        return history
    }

    private mutating func clientBaseline(version: UInt8) throws(StateError) -> ClientBaseline {
        var client = ClientBaseline(time: Timestamp(microseconds: try integer()))
        for place in 0..<ClientBaseline.places {
            client.last[place] = try integer()
            client.told[place] = version > 1 ? try integer() : client.last[place] >= 0 ? client.time.microseconds : .min
            client.offsets[place] = try integer()
            guard client.last[place] <= Int64(UInt32.max), client.offsets[place].magnitude <= 1 << 50 else {
                throw error("a client's count that none reaches")
            }
        }
        for place in 0..<StageTally.count { client.recovered[place] = try integer() }
        client.baseTime = Timestamp(microseconds: try integer())
        client.formerTime = Timestamp(microseconds: try integer())
        for place in 0..<StageTally.count { client.formerRecovered[place] = try integer() }
        if version > 2 {
            for place in 0..<StageTally.count { client.resetRecovered[place] = try integer() }
        }
        return client
    }
}

extension Installation {
    fileprivate static let taskBytes = 33
    fileprivate static let permissionBytes = 8
    fileprivate static let clientBytes = 336
    /// A history without moments.
    fileprivate static let historyBytes = InstallationHistory.lists.count
    fileprivate static let momentBytes = 16
    fileprivate static let contentBytes = 8

    /// What its lists take in a checkpoint.
    fileprivate var variableBytes: Int {
        tasks.count * Self.taskBytes + permissions.words.count * Self.permissionBytes + client.count * Self.clientBytes
            + history.reduce(0) { $0 + Self.historyBytes + $1.momentCount * Self.momentBytes }
            + (content.words.count + content.persisted.count) * Self.contentBytes
    }
}
