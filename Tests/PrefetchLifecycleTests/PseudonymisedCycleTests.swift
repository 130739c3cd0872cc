// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Cycles whose id became a pseudonym")
struct PseudonymisedCycleTests {
    /// Keeps ids and hashes, as versions before pseudonyms did.
    private struct KeptIdentifiers: Pseudonymising {
        var keepsIdentifiers: Bool { true }
        func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { OnePseudonym().pseudonym(of: bytes) }
    }

    private func decoded(_ events: [String], by pseudonyms: any Pseudonymising) -> DecodedEvents {
        JSONEventDecoder.decode(
            Array(events.joined(separator: "\n").utf8).span,
            framing: .lines,
            receivedAt: start,
            pseudonyms: pseudonyms,
            identityKey: IdentityKey(3, 4)
        )
    }

    private static let id = "call 4155550127"
    private static let digest = String(repeating: "0123456789abcdef", count: 4)

    @Test("a cycle begun under an id goes on under its pseudonym after an upgrade, and every stage counts once")
    func cycleGoesOnUnderItsPseudonym() throws {
        let scheduled = event("prefetch_scheduled", 0, #""eventId":"a b""#, id: Self.id)
        let cached = event("content_cached", 64, #""contentHash":"\#(Self.digest)""#, id: Self.id)
        var fold = LifecycleFold(key: IdentityKey(3, 4), keepsClosedCycles: true)
        let old = decoded([scheduled, event("prefetch_executed", 60, id: Self.id), cached], by: KeptIdentifiers())
        try fold.apply(old.events.bytes.span, receivedAt: start)
        var restored = LifecycleFold(key: IdentityKey(3, 4), keepsClosedCycles: true)
        for page in fold.takeChanges().upserts.sorted(by: { $0.key < $1.key }) { try restored.restore(page) }

        let used = #""contentHash":"\#(Self.digest)""#
        let new = decoded(
            [
                scheduled, event("prefetch_success", 63, id: Self.id),
                event("prefetch_used_for_notification", 400, used, id: Self.id),
            ],
            by: OnePseudonym()
        )
        #expect(new.events.count == 3)
        #expect(restored.isKnown(new.identities[0]), "a retry over the upgrade is a duplicate")
        #expect(!restored.isKnown(new.identities[1]))
        try restored.apply(new.events.bytes.span, receivedAt: start)
        #expect(restored.openCycles == 1)
        restored.finish()
        let cycle = try #require(restored.takeClosedCycles().first)
        #expect(cycle.violations.isEmpty)
        #expect(cycle.contentHashMatches == true)
        #expect(restored.totals.scheduled == 1)
        #expect(restored.totals.used == 1)
    }
}
