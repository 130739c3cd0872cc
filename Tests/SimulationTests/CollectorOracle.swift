// SPDX-License-Identifier: Apache-2.0

import LedgerState
import MetricsRegistry
import PrefetchLifecycle
import TelemetryEvents

@testable import Collector
@testable import EventLedger

/// What must hold, by what clients were told and by what the ledger said that it had stored.
///
/// It keeps every row that the ledger committed, folds them on its own without a checkpoint, and compares both with what
/// is found after each restart.
final class CollectorOracle {
    /// How the process ended before a restart.
    enum Ending: Int { case clean, killed, powerLost }

    private(set) var finding: String?
    private(set) var fleet: SimulatedFleet
    private let durability: LedgerDurability
    private let limits = LifecycleLimits()

    private var rows: [StoredBatch] = []
    private var ordinalsOfRow: [[Int]] = []
    /// The row that an event is in.
    private var rowOfOrdinal: [Int: Int] = [:]
    /// The groups that the ledger could not store since the last one that it stored: a crash may find them stored.
    private var failedGroups: [[LedgerBatch]] = []
    private var group: [LedgerBatch] = []
    private var shadow: LedgerProjection

    /// Whether a process runs that has found the rows; what an opening syncs may lack some.
    private var isRunning = false
    /// How many rows a sync has made durable.
    private var durableRows = 0
    /// The events that a client was told of.
    private var acknowledged: Set<Int> = []
    private var checkedPruned: UInt64 = 0
    /// The counters of the last page.
    private var counters: [String: Double] = [:]
    /// Whether a loss of power took what `process` does not promise to keep.
    private(set) var hasLost = false

    init(_ fleet: SimulatedFleet, durability: LedgerDurability) {
        self.fleet = fleet
        self.durability = durability
        shadow = LedgerProjection(identityKey: SimulatedFleet.identityKey, limits: limits)
    }

    func fail(_ text: @autoclosure () -> String) {
        if finding == nil { finding = text() }
    }

    // MARK: While it runs

    func split(_ batch: Int, at place: Int) -> Int { fleet.split(batch, at: place) }

    func prepared(_ batch: LedgerBatch) { group.append(batch) }

    func committed(_ batch: LedgerBatch, at placement: CommitPlacement) {
        take(StoredBatch(id: placement.batch, firstSequence: placement.firstSequence, batch: batch))
    }

    func applied() {
        group = []
        failedGroups = []
    }

    func groupAborted() {
        if !group.isEmpty { failedGroups.append(group) }
        group = []
    }

    func synchronized(_ path: String) {
        if isRunning, path.hasSuffix("-wal") { durableRows = max(durableRows, rows.count) }
    }

    /// A client gets its answer.
    func answered(_ batch: SimulatedFleet.Batch, _ outcome: IngestOutcome) {
        guard case .committed(let accepted, let duplicates) = outcome else {
            return fail("batch \(batch.key) is answered as a key that was used for another body")
        }
        if accepted + duplicates != batch.decoded.events.count {
            fail(
                "batch \(batch.key) of \(batch.decoded.events.count) events is answered with \(accepted) accepted and "
                    + "\(duplicates) duplicates"
            )
        }
        for event in SimulatedFleet.canonical(batch.decoded.events.bytes) {
            if let ordinal = fleet.ordinals[event] { acknowledged.insert(ordinal) }
        }
    }

    private func take(_ row: StoredBatch) {
        let end = rows.last?.position ?? .start
        if row.id != end.batch + 1 || row.firstSequence != end.sequence + 1 {
            fail("row \(row.id) begins with number \(row.firstSequence), and the one before ends at \(end)")
        }
        var ordinals: [Int] = []
        if row.batch.origin != EventOrigin.tick.rawValue {
            for event in SimulatedFleet.canonical(row.batch.events) {
                guard let ordinal = fleet.ordinals[event] else {
                    fail("row \(row.id) has an event that no client sent: \(String(decoding: event, as: UTF8.self))")
                    continue
                }
                if let earlier = rowOfOrdinal[ordinal] {
                    fail("event \(ordinal) counts twice, in rows \(earlier) and \(row.id)")
                }
                rowOfOrdinal[ordinal] = Int(row.id)
                ordinals.append(ordinal)
            }
        }
        rows.append(row)
        ordinalsOfRow.append(ordinals)
        do {
            try shadow.apply(row.batch, at: row.position)
        } catch {
            fail("row \(row.id) cannot be read: \(error)")
        }
    }

    /// The process is gone.
    func ended() { isRunning = false }

    // MARK: After a restart

    /// Compares what a new process finds with what is known.
    func reopened(_ collector: SimulatedCollector, after ending: Ending, journal: [SimulatedJournald.Entry]) {
        isRunning = true
        groupAborted()
        do {
            try compareRows(collector, ending)
        } catch {
            return fail("the ledger cannot be read after a restart: \(error)")
        }
        if collector.recovery.skippedBatches > 0 || collector.recovery.unreadableBatches > 0 {
            fail("batches cannot be read after a restart: \(collector.recovery)")
        }
        let lives = collector.ledger.lives
        if lives.count > 1, !hasLost { fail("a life began without a loss: \(lives.map(\.description))") }
        if ending == .powerLost, durability == .process { counters = [:] }
        compareState(collector)
        checkPruned(collector, journal)
        look(at: collector)
    }

    private func compareRows(_ collector: SimulatedCollector, _ ending: Ending) throws {
        let reader = collector.ledger.reader
        var last = try reader.statistics().pruned.batch
        if last > rows.count { fail("rows up to \(last) are deleted, and \(rows.count) were stored") }
        var found: [StoredBatch] = []
        while true {
            let batches = try reader.read(afterBatch: last)
            guard let end = batches.last else { break }
            found += batches
            last = end.id
        }
        let end = Int(collector.ledger.position.batch)
        for row in found where row.id <= rows.count && row != rows[Int(row.id) - 1] {
            fail("row \(row.id) is not what was stored: \(row.position), not \(rows[Int(row.id) - 1].position)")
        }
        let promised = ending == .powerLost && durability == .process ? durableRows : rows.count
        if end < promised {
            fail("row \(end + 1) is gone, and rows up to \(promised) were stored (\(ending), \(durability))")
        }
        if end < rows.count { lose(after: end) }
        if end > rows.count { adopt(found.filter { $0.id > rows.count }) }
        failedGroups = []
        for ordinal in acknowledged.sorted() where rowOfOrdinal[ordinal] == nil {
            fail("event \(ordinal) was acknowledged and is in no row (\(ending), \(durability))")
        }
        if ending == .powerLost { durableRows = rows.count }
    }

    /// Forgets what a loss of power took by right.
    private func lose(after end: Int) {
        hasLost = true
        durableRows = min(durableRows, end)
        for ordinals in ordinalsOfRow[end...] {
            for ordinal in ordinals {
                rowOfOrdinal[ordinal] = nil
                acknowledged.remove(ordinal)
            }
        }
        let kept = rows[..<end]
        (rows, ordinalsOfRow, rowOfOrdinal) = ([], [], [:])
        shadow = LedgerProjection(identityKey: SimulatedFleet.identityKey, limits: limits)
        for row in kept { take(row) }
        counters = [:]
    }

    /// Takes a group that the ledger had stored when it said that it could not, or before it could say so.
    private func adopt(_ found: [StoredBatch]) {
        guard failedGroups.contains(found.map(\.batch)) else {
            return fail("rows from \(rows.count + 1) on were never given: \(found.map(\.position))")
        }
        for row in found { take(row) }
    }

    private func compareState(_ collector: SimulatedCollector) {
        guard let difference = collector.recovered.difference(from: CountedState(shadow)) else { return }
        fail("the state after a restart is not that of the rows: \(difference)")
    }

    /// What is deleted must be in the journal.
    private func checkPruned(_ collector: SimulatedCollector, _ journal: [SimulatedJournald.Entry]) {
        guard collector.progress != nil, let pruned = try? collector.ledger.reader.statistics().pruned else { return }
        guard pruned.sequence > checkedPruned else { return }
        let numbers = Set(journal.compactMap(\.number))
        for number in checkedPruned + 1...pruned.sequence where !numbers.contains(number) {
            fail("number \(number) is deleted from the ledger, and the journal does not have it")
        }
        checkedPruned = pruned.sequence
    }

    // MARK: Pages

    private static let counted = [
        "dnp_prefetch_", "dnp_notification_", "dnp_content_", "dnp_plugin_", "aiq_", "dnp_telemetry_events_",
        "dnp_telemetry_accepted_effects_", "dnp_telemetry_lifecycle_increments_", "dnp_telemetry_journal_entries_",
    ]

    private static func isCounter(_ name: String) -> Bool {
        guard counted.contains(where: name.hasPrefix) else { return false }
        let family = name.prefix { $0 != "{" }
        return ["_total", "_count", "_bucket", "_sum"].contains { family.hasSuffix($0) }
    }

    /// The samples of a page that are not 0.
    private static func samples(_ page: [UInt8]) -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in page.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            guard let space = line.lastIndex(of: UInt8(ascii: " ")), line[(space + 1)...] != [UInt8(ascii: "0")] else {
                continue
            }
            let value = String(decoding: line[(space + 1)...], as: UTF8.self)
            samples[String(decoding: line[..<space], as: UTF8.self)] = Double(value)
        }
        return samples
    }

    /// Looks at the page: no counter has fallen, and the accounts add up.
    func look(at collector: SimulatedCollector) {
        let page = Self.samples(collector.registry.exposition())
        func sum(_ family: String) -> Double {
            page.reduce(0) { $0 + ($1.key == family || $1.key.hasPrefix(family + "{") ? $1.value : 0) }
        }
        for (name, before) in counters.sorted(by: { $0.key < $1.key }) where page[name] ?? 0 < before {
            fail("\(name) has fallen from \(before) to \(page[name] ?? 0)")
        }
        counters = page.filter { Self.isCounter($0.key) }
        let events = "dnp_telemetry_events_"
        let accepted = sum("\(events)accepted_total")
        let (duplicate, rejected) = (sum("\(events)duplicate_total"), sum("\(events)rejected_total"))
        if sum("\(events)received_total") != accepted + duplicate + rejected {
            fail("received is not accepted + duplicate + rejected: \(accepted), \(duplicate), \(rejected)")
        }
        if sum("dnp_telemetry_accepted_effects_total") != accepted {
            fail("the effects of accepted events do not add up to \(accepted)")
        }
        guard collector.progress != nil else { return }
        let (confirmed, skipped) = (
            sum("dnp_telemetry_journal_entries_confirmed_total"), sum("dnp_telemetry_journal_entries_skipped_total")
        )
        let pending = sum("dnp_telemetry_journal_pending_entries")
        if accepted != confirmed + skipped + pending {
            fail("accepted \(accepted) is not confirmed + skipped + pending: \(confirmed), \(skipped), \(pending)")
        }
        if skipped > 0 { fail("\(skipped) entries were skipped, and nothing was unreadable") }
    }

    // MARK: The end

    /// What must hold when everything has settled.
    func settled(_ collector: SimulatedCollector, journal: [SimulatedJournald.Entry], comparesTruth: Bool) {
        let missing = fleet.ordinals.count - rowOfOrdinal.count
        if missing > 0, !hasLost {
            fail("\(missing) of \(fleet.ordinals.count) events are not in the ledger at the end")
        }
        if collector.progress != nil { compareJournal(collector, journal) }
        guard comparesTruth, !hasLost else { return }
        let text = String(decoding: collector.registry.exposition(), as: UTF8.self)
        if let difference = SimulatedFleet.difference(text, fleet.truth, twice: schedulesCountedTwice) {
            fail("the fleet's truth: \(difference)")
        }
    }

    /// How many schedules count twice because of the order in which their events arrived: the plugin told a schedule again,
    /// and that and a snapshot arrived before the first telling, which the snapshot includes (docs/lifecycle.md, "What a
    /// client counts itself").
    private var schedulesCountedTwice: Int {
        var twice = 0
        var first: [String: Timestamp] = [:]
        var snapshots: [UInt64: [Timestamp]] = [:]
        for row in rows where row.batch.origin != EventOrigin.tick.rawValue {
            let bytes = row.batch.events
            var cursor = EventCursor()
            while let event = try? cursor.next(in: bytes.span) {
                let device = event.installation?.fingerprint ?? 0
                if !event.clientCounters.isEmpty { snapshots[device, default: []].append(event.timestamp) }
                guard event.kind == .prefetchScheduled else { continue }
                let due = event.scheduledFor?.microseconds ?? 0
                let schedule = "\(device) \(String(decoding: bytes[event.scheduleId], as: UTF8.self)) \(due)"
                let known = first[schedule] ?? event.timestamp
                first[schedule] = min(known, event.timestamp)
                let between = snapshots[device, default: []].contains { event.timestamp <= $0 && $0 < known }
                if between { twice += 1 }
            }
        }
        return twice
    }

    /// Each number stands once in the journal, under the life that gave it, with its event.
    private func compareJournal(_ collector: SimulatedCollector, _ journal: [SimulatedJournald.Entry]) {
        let lives = collector.ledger.lives
        var messages: [String: [UInt64: [[UInt8]]]] = [:]
        for entry in journal {
            guard let number = entry.number, !entry.stream.isEmpty else { continue }
            messages[entry.stream, default: [:]][number, default: []].append(entry.message)
        }
        for row in rows {
            let events = row.batch.origin == EventOrigin.tick.rawValue ? [] : SimulatedFleet.canonical(row.batch.events)
            for index in 0..<Int(row.batch.count) {
                let number = row.firstSequence + UInt64(index)
                guard let life = lives.last(where: { $0.after.sequence < number }) else { continue }
                let found = messages[life.id]?[number] ?? []
                if found.count != 1 {
                    fail("number \(number) is \(found.count) times in the journal, under life \(life.number)")
                } else if index < events.count, found[0] != events[index] {
                    fail("number \(number) is in the journal as another event")
                }
            }
        }
        let end = collector.ledger.position.sequence
        if !hasLost, let number = journal.compactMap(\.number).max(), number > end {
            fail("the journal holds number \(number), and the ledger ends at \(end)")
        }
    }
}
