// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

private struct LengthPseudonyms: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { Pseudonym(high: 1, low: UInt64(bytes.count)) }
}

@Suite("Cycles of before sources were devices")
struct CarriedCyclesTests {
    private static let key = IdentityKey(5, 6)
    private static let now = Timestamp(seconds: 1_763_206_000)

    private static func event(_ kind: String, _ id: String, _ second: Int, _ members: String = "") -> String {
        #"{"event":"\#(kind)","scheduleId":"\#(id)","timestamp":"2025-11-15T11:10:0\#(second)Z"\#(members)}"# + "\n"
    }

    private static let due = #","scheduledFor":"2025-11-15T12:00:00Z""#

    private func apply(_ lines: String, _ decoder: inout LogDecoder, to fold: inout LifecycleFold) throws {
        let decoded = decoder.decode(Array(lines.utf8).span, readAt: Self.now)
        #expect(decoded.rejections.isEmpty)
        try fold.apply(decoded.events.bytes.span, receivedAt: Self.now)
    }

    private func decoder(_ source: Pseudonym?) -> LogDecoder {
        var options = LogDecoderOptions(isLive: true)
        options.source = source
        return LogDecoder(options, pseudonyms: LengthPseudonyms(), identityKey: Self.key)
    }

    @Test("open cycles without an installation go on when their source becomes a device, and new ones are its own")
    func openCyclesGoOn() throws {
        for carries in [true, false] {
            var fold = LifecycleFold(key: Self.key, anonymousIsOneInstallation: false)
            var before = decoder(nil)
            let named = #","installationId":"phone""#
            try apply(
                Self.event("prefetch_scheduled", "a", 0, Self.due)
                    + Self.event("prefetch_scheduled", "c", 0, Self.due + named),
                &before,
                to: &fold
            )
            #expect(fold.openCycles == 2)
            var after = decoder(Pseudonym(high: 0, low: 7))
            if carries { after.carry(fold.cyclesWithoutInstallation(now: Self.now)) }
            try apply(
                Self.event("prefetch_executed", "a", 1) + Self.event("prefetch_success", "a", 2)
                    + Self.event("prefetch_executed", "c", 1, named),
                &after,
                to: &fold
            )
            #expect(fold.openCycles == (carries ? 2 : 3))
            try apply(Self.event("prefetch_scheduled", "b", 3), &after, to: &fold)
            #expect(fold.openCycles == (carries ? 3 : 4))
            // The same again is known.
            let again = after.decode(Array(Self.event("prefetch_executed", "a", 1).utf8).span, readAt: Self.now)
            #expect(again.identities.allSatisfy { fold.isKnown($0) })
        }
    }
}
