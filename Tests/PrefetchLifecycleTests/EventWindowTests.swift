// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// What is looked up for a window of events ahead of folding them changes nothing of what becomes of them.
@Suite("Windows of events")
struct EventWindowTests {
    /// A pseudonym for each installation.
    private struct Pseudonyms: Pseudonymising {
        func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { Pseudonym(high: UInt64(bytes[0]), low: 1) }
    }

    /// Small limits for half of the seeds, so that cycles and installations are evicted, and slots move, within a window.
    private static func limits(_ seed: UInt64) -> LifecycleLimits {
        var limits = LifecycleLimits()
        if seed % 2 == 0 { (limits.openCycles, limits.cyclesPerSchedule, limits.installations) = (5, 2, 2) }
        return limits
    }

    private static func decoded(_ events: [String]) -> DecodedEvents {
        JSONEventDecoder.decode(
            Array(events.joined(separator: "\n").utf8).span,
            framing: .lines,
            receivedAt: start,
            pseudonyms: Pseudonyms(),
            identityKey: IdentityKey(3, 4)
        )
    }

    private static func pages(_ fold: inout LifecycleFold) -> [String: [UInt8]] {
        var store = CheckpointStore()
        store.save(fold.takeChanges())
        return store.pages
    }

    /// Cycles of few schedules and notification times, so that one window opens, joins and closes several of each.
    private static func events(_ random: inout SplitMix64) -> [String] {
        (0..<Int.random(in: 1...70, using: &random)).map { _ in
            let kind =
                [
                    "prefetch_scheduled", "prefetch_executed", "prefetch_success", "prefetch_used_for_notification",
                    "notification_delivered", "plugin_error", "background_refresh_completed",
                ].randomElement(using: &random) ?? ""
            let due = Int.random(in: 0..<4, using: &random)
            let time = Timestamp(seconds: start.wholeSeconds + 3_600 * Int64(1 + due))
            let id = ["", "a", "b", "c"].randomElement(using: &random) ?? ""
            return event(
                kind,
                Int64.random(in: 0..<3_600, using: &random),
                #""installationId":"\#(Int.random(in: 0..<3, using: &random))""#
                    + (due == 0 ? "" : #","scheduledFor":"\#(time)""#),
                id: id
            ).replacing(#""scheduleId":"","#, with: "")
        }
    }

    @Test("a fold that is given the hashes of events is the one that makes them, also of only some", arguments: 0..<24)
    func hashesChangeNothing(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let limits = Self.limits(seed)
        var made = LifecycleFold(key: IdentityKey(3, 4), limits: limits, deduplicates: seed % 3 != 0)
        var (given, partly) = (made, made)
        for round in 0..<12 {
            let decoded = Self.decoded(Self.events(&random))
            let records = decoded.events.bytes
            let time = Timestamp(microseconds: start.microseconds + Int64(round) * 3_600_000_000)
            let dropped = decoded.hashes.identities.indices.dropFirst(Int.random(in: 0...80, using: &random))
            try made.apply(records.span, receivedAt: time)
            try given.apply(records.span, decoded.hashes, receivedAt: time)
            try partly.apply(records.span, decoded.hashes.without(Array(dropped)), receivedAt: time)
            guard round % 4 == 3 else { continue }
            made.tick(to: time)
            given.tick(to: time)
            partly.tick(to: time)
        }
        let pages = Self.pages(&made)
        #expect(pages.count > 2)
        #expect(Self.pages(&given) == pages)
        #expect(Self.pages(&partly) == pages)
    }

    @Test("events are folded in windows as one by one", arguments: 0..<24)
    func windowsChangeNothing(seed: UInt64) throws {
        var random = SplitMix64(seed: seed + 500)
        var whole = LifecycleFold(key: IdentityKey(3, 4), limits: Self.limits(seed))
        var single = whole
        for round in 0..<12 {
            let decoded = Self.decoded(Self.events(&random))
            let records = decoded.events.bytes
            let time = Timestamp(microseconds: start.microseconds + Int64(round) * 3_600_000_000)
            try whole.apply(records.span, receivedAt: time)
            for place in 0..<decoded.events.count {
                try single.apply(records.span.extracting(decoded.events.record(at: place)), receivedAt: time)
            }
            guard round % 4 == 3 else { continue }
            whole.tick(to: time)
            single.tick(to: time)
        }
        // The identities of a window are remembered before the names of the cycles that it closes.
        #expect(single.rememberedIdentities == whole.rememberedIdentities)
        let pages = Self.pages(&whole).filter { !$0.key.hasPrefix("identities/") }
        #expect(pages.count > 2)
        #expect(Self.pages(&single).filter { !$0.key.hasPrefix("identities/") } == pages)
        if seed % 2 == 0 { #expect(whole.totals.evictedCycles > 0 && whole.totals.evictedInstallations > 0) }
    }

    @Test("of two cycles that a window opens for one notification time, the first is found by it")
    func firstOwnsTheTime() throws {
        var fold = LifecycleFold()
        let due = #""scheduledFor":"\#(Timestamp(seconds: start.wholeSeconds + 3_600))""#
        let opening = ["a", "b"].map { event("prefetch_scheduled", 0, due, id: $0) }
        let used = event("prefetch_used_for_notification", 3_600, due, id: "").replacing(#""scheduleId":"","#, with: "")
        try fold.apply(opening + [used])
        #expect(fold.openCycles == 2)
        #expect(fold.cycles[0].used.isKnown && !fold.cycles[1].used.isKnown)
        #expect(fold.cycles[0].flags.contains(.ownsDue) && !fold.cycles[1].flags.contains(.ownsDue))
    }
}
