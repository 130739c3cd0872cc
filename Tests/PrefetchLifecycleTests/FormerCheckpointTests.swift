// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

/// Checkpoints of the version before, whose facts had leads instead of begins, and hashes and ages without times.
@Suite("Checkpoints of the version before")
struct FormerCheckpointTests {
    /// A fact as that version stored it.
    private struct FormerFact {
        var word: UInt64

        init(_ stage: UInt64, at seconds: Double, detail: UInt16 = 0) {
            word = UInt64(Int64(seconds * 1_000_000) + 1 << 41) << 22 | stage << 16 | UInt64(detail)
        }

        init(_ stage: UInt64, value: UInt64) { word = value << 22 | stage << 16 }
    }

    /// The checkpoint of a fold in the form of the version before.
    ///
    /// - Parameters:
    ///   - facts: the facts of its only cycle.
    ///   - ttl: the largest ttl of its content.
    private static func former(
        _ fold: LifecycleFold,
        _ facts: [FormerFact],
        ttl: Int64?,
        identities: [UInt64],
        denied: Double?
    ) -> CheckpointStore {
        var fold = fold
        var store = CheckpointStore()
        store.save(fold.takeChanges())
        store.pages["about"] = nil
        var totals = StateWriter()
        totals.append(fold.clock.microseconds)
        totals.append(fold.latest.microseconds)
        fold.groups.append(to: &totals, version: 1)
        totals.append((fold.identities.clock.now ?? fold.clock).microseconds)
        totals.append(fold.identities.clock.row.microseconds)
        store.pages["totals"] = totals.bytes
        let cycle = fold.cycles[0]
        var page = StateWriter()
        page.append(cycle.schedule)
        page.append(cycle.installation)
        page.append(cycle.base.microseconds)
        page.append(cycle.due?.microseconds ?? 0)
        page.append(cycle.closesAt)
        page.append(cycle.used.rawValue)
        page.append(cycle.delivered.rawValue)
        page.append(cycle.window.rawValue)
        page.append(ttl ?? -1)
        page.append((facts.count > 4 ? cycle.flags.union(.isLong) : cycle.flags.subtracting(.isLong)).rawValue)
        page.append(cycle.group)
        let counted = fold.cycles.counted(at: 0)
        for place in 0..<CountedStages.count { page.append(counted[place]) }
        page.append(UInt16(facts.count))
        for fact in facts.sorted(by: { $0.word < $1.word }) { page.append(fact.word) }
        store.pages["cycles/00000000"] = page.bytes

        var known = StateWriter()
        known.append(UInt64(bitPattern: start.microseconds))
        for identity in identities { known.append(identity) }
        for key in store.pages.keys where key.hasPrefix("identities/") { store.pages[key] = known.bytes }

        let installation = fold.installations.find(cycle.installation) ?? Installation(fingerprint: 0)
        var table = StateWriter()
        table.append(installation.fingerprint)
        table.append(installation.latest.microseconds)
        table.append(denied.map { Timestamp.after($0).microseconds } ?? 0)
        for _ in 0..<2 { table.append(Int64(0)) }
        table.append(Timestamp.after(0).microseconds)
        table.append(UInt8(installation.tasks.count))
        for task in installation.tasks {
            table.append(task.scheduled)
            table.append(task.freed)
            table.append(task.due.microseconds)
            table.append(UInt8(0))
        }
        for place in 0..<8 { table.append(installation.counted[place]) }
        table.append(UInt8(0))
        store.pages["installations/00000000"] = table.bytes
        return store
    }

    /// What is told before the upgrade: submitted with a lead of 300 s, run, failed once, succeeded.
    private static let before = [
        TestEvent(.prefetchScheduled, 0, due: 900).begins(300).schedule("aa").of(1),
        TestEvent(.prefetchExecuted, 400).schedule("aa").of(1),
        TestEvent(.prefetchFailure, 401).reason(.network).retried().of(1),
        TestEvent(.prefetchSuccess, 410).ttl(600).content("bb").lasting(1).of(1),
    ]

    private static func hash(_ text: String) -> UInt64 {
        HashFingerprint(0..<text.utf8.count, in: Array(text.utf8).span).value
    }

    private static let facts = [
        FormerFact(1, at: 0, detail: UInt16(bitPattern: 300)), FormerFact(2, at: 400),
        FormerFact(4, at: 401, detail: 0b1100), FormerFact(3, at: 410, detail: 1 << 8),
        FormerFact(16, value: hash("aa")), FormerFact(17, value: hash("aa")), FormerFact(18, value: hash("bb")),
    ]

    private static func identity(_ told: TestEvent) throws -> UInt64 {
        var batch = EventBatch()
        batch.append(told.event, texts: told.texts.span)
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: batch.bytes.span))
        return IdentityKey(3, 4).identity(of: event, in: batch.bytes.span)
    }

    private static func upgraded(denied: Double? = nil) throws -> (live: LifecycleFold, restored: LifecycleFold) {
        var live = LifecycleFold.keeping()
        try live.accept(before)
        var identities: [UInt64] = []
        for told in before {
            let identity = try identity(told)
            // The reason was not part of it.
            let reason = told.event.kind == .prefetchFailure ? told.event.reason : nil
            identities.append(
                reason.map { IdentityKey.identitiesWithoutReason(identity)[Int($0.rawValue)] } ?? identity
            )
        }
        let store = former(live, facts, ttl: 600, identities: identities, denied: denied)
        var restored = LifecycleFold.keeping()
        for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
            try restored.restore(StatePage(key: key, value: value))
        }
        return (live, restored)
    }

    @Test("the facts, hashes and tasks of a checkpoint of the version before go on as if nothing had happened")
    func formerCheckpointGoesOn() throws {
        let rest = [
            TestEvent(.prefetchUsedForNotification, 900).aged(490).content("bb").of(1),
            TestEvent(.prefetchExecuted, 950).schedule("cc").of(1),
            TestEvent(.prefetchFailure, 951).reason(.auth).of(1),
            TestEvent(.prefetchScheduled, 1_000, id: "b", due: 9_000).of(1),
        ]
        for events in [[], rest, Array(rest.reversed())] {
            var (live, restored) = try Self.upgraded()
            #expect(restored.totals == live.totals)
            try live.accept(events)
            try restored.accept(events)
            #expect(restored.totals == live.totals)
            live.finish()
            restored.finish()
            #expect(restored.totals == live.totals)
            #expect("\(restored.takeClosedCycles())" == "\(live.takeClosedCycles())")
        }
    }

    @Test("events that the version before accepted are duplicates, also failures, and others of their moment are not")
    func formerIdentitiesAreKnown() throws {
        var (_, restored) = try Self.upgraded()
        let accepted = try restored.accept(Self.before)
        #expect(accepted == 0)
        let other = TestEvent(.prefetchFailure, 402).reason(.network).of(1)
        let isNew = try restored.accept([other])
        #expect(isNew == 1)

        var store = CheckpointStore()
        store.save(restored.takeChanges())
        #expect(store.pages["about"]?.first == LifecycleFold.stateVersion)
        var again = LifecycleFold.keeping()
        for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
            try again.restore(StatePage(key: key, value: value))
        }
        let acceptedAgain = try again.accept(Self.before + [other])
        #expect(acceptedAgain == 0)
        #expect(again.totals == restored.totals)
    }

    @Test(
        "after an upgrade the line of a content's hash is known that did not differ from the others of its moment",
        arguments: [(3 as UInt8, EventKind.contentCached), (4, .prefetchUsedForNotification)]
    )
    func formerHashesAreKnown(version: UInt8, kind: EventKind) throws {
        let told = TestEvent(kind, 411).content("bb").of(1)
        let plain = TestEvent(kind, 411).of(1)
        var live = LifecycleFold.keeping()
        try live.accept(Self.before)
        var store = CheckpointStore()
        store.save(live.takeChanges())
        // As that version has it: no generation with other identities, and the identity of the event without the mask.
        var about = StateWriter()
        about.append(version)
        for _ in 2..<version { about.append(-1 as Int64) }
        store.pages["about"] = about.bytes
        let identity = IdentityKey.identityWithoutHash(try Self.identity(told))
        for key in store.pages.keys where key.hasPrefix("identities/") {
            var page = StateWriter()
            page.append(identity)
            store.pages[key]? += page.bytes
        }
        // The second round restores what this version has saved.
        for round in 0..<2 {
            var restored = LifecycleFold.keeping()
            for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
                try restored.restore(StatePage(key: key, value: value))
            }
            let known = try restored.accept([told, plain])
            #expect(known == 0 && restored.remembersEarlierIdentities)
            let other = Double(round + 412)
            let isNew = try restored.accept([
                TestEvent(kind, other).content("bb").of(1), TestEvent(kind, other).of(1),
            ])
            #expect(isNew == 2)
            store.save(restored.takeChanges())
            #expect(store.pages["about"]?.first == LifecycleFold.stateVersion)
        }
    }

    @Test("a checkpoint of the version before is written anew as a whole, and a denial in it still holds")
    func formerCheckpointIsWrittenAnew() throws {
        var (_, restored) = try Self.upgraded(denied: -10)
        let keys = restored.takeChanges().upserts.map(\.key)
        #expect(keys.contains("about") && keys.contains("cycles/00000000") && keys.contains("installations/00000000"))
        restored.finish()
        #expect(restored.takeClosedCycles().flatMap(\.broken).contains(.scheduledWhileDenied))
    }

    @Test("a checkpoint of a newer layout is refused")
    func newerLayoutIsRefused() {
        var fold = LifecycleFold()
        #expect(throws: StateError.self) {
            try fold.restore(
                StatePage(key: "about", value: [LifecycleFold.stateVersion + 1] + [UInt8](repeating: 0, count: 8))
            )
        }
    }
}
