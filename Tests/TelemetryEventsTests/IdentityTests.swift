// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Identity of events and cycles")
struct IdentityTests {
    let key = IdentityKey(1, 2)

    func hashes(_ text: String) throws -> (identity: UInt64, cycle: UInt64?) {
        let bytes = decode(text).events.bytes
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: bytes.span))
        return (key.identity(of: event, in: bytes.span), key.cycle(of: event, in: bytes.span))
    }

    @Test("every part of an event's identity changes the identity hash")
    func identityCoversItsParts() throws {
        let base = try hashes(event(with: #""ttl":1"#))
        #expect(try hashes(event(with: #""ttl":2,"reason":"AUTH""#)).identity == base.identity)
        for other in [
            #""scheduleId":"b""#, #""timestamp":"2025-11-15T05:48:33Z""#, #""event":"prefetch_executed""#,
            #""eventId":"1""#, #""installationId":"1""#,
        ] {
            #expect(try hashes(event(with: other)).identity != base.identity, "\(other)")
        }
    }

    /// Events with and without ids, with ids that pseudonyms replace, of both apps; and lines among them.
    private static let inputs = [
        event(with: #""ttl":1"#), event(with: #""scheduleId":"Jane Doe","eventId":"a b","installationId":"phone""#),
        #"{"event":"prefetch_executed","scheduledFor":"2025-11-15T05:53:00Z","timestamp":"2025-11-15T05:48:32Z"}"#,
        #"{"event":"plugin_error","error":"E12","timestamp":"2025-11-15T05:48:32Z"}"#,
        #"{"event":"prefetch_failure","reason":"AUTH","scheduleId":"b","timestamp":"2025-11-15T05:48:32Z"}"#,
        #"{"event":"backgroundRefreshCompleted","timestamp":"2025-11-15T05:48:32Z","durationMs":5}"#,
        "2025-11-15T05:48:01Z [DNP-FETCH] Starting fetch (scheduleId=call-4155550127)",
        "2025-11-15T05:48:03Z [DNP-FETCH] Fetch success (status=200)",
        "2025-11-15T05:53:00Z [DNP-FETCH] Using cached content for notification",
    ]

    private func expectOwnHashes(_ decoded: DecodedEvents) throws {
        let bytes = decoded.events.bytes
        var cursor = EventCursor()
        var made = EventHashes()
        while let event = try cursor.next(in: bytes.span) { made.append(key.hashes(of: event, in: bytes.span)) }
        #expect(decoded.hashes.count == decoded.events.count)
        #expect(decoded.hashes.identities == made.identities)
        #expect(decoded.hashes.schedules == made.schedules)
    }

    @Test("decoded events come with the hashes that their records have, as JSON and as lines of a log")
    func decodedHashesAreThoseOfTheRecords() throws {
        let events = decode(Self.inputs.prefix(6).joined(separator: "\n"), as: .lines)
        #expect(events.events.count == 6)
        try expectOwnHashes(events)
        #expect(events.hashes.schedules.count { $0 == 0 } == 3)
        var decoder = logDecoder()
        var lines = decoder.decode(Array(Self.inputs.joined(separator: "\n").utf8).span, readAt: readingTime)
        lines.append(decoder.flush(readAt: readingTime))
        #expect(lines.events.count > 6)
        try expectOwnHashes(lines)
    }

    @Test("hashes without those of some events are those of the others")
    func hashesWithoutSome() {
        var hashes = EventHashes()
        for place in 0..<6 { hashes.append((UInt64(place), place % 2 == 0 ? nil : UInt64(place * 10))) }
        for dropped in [[], [0], [5], [1, 2, 4], [0, 1, 2, 3, 4, 5]] {
            let kept = (0..<6).filter { !dropped.contains($0) }
            #expect(hashes.without(dropped).identities == kept.map { UInt64($0) })
            #expect(hashes.without(dropped).schedules == kept.map { $0 % 2 == 0 ? 0 : UInt64($0 * 10) })
        }
    }

    @Test("the reason of a failure is part of its identity, and can be taken off again")
    func identityCoversTheReasonOfAFailure() throws {
        for kind in ["prefetch_failure", "prefetch_completed"] {
            let plain = try hashes(event(with: #""event":"\#(kind)""#)).identity
            var identities: Set = [plain]
            for reason in ["NETWORK", "AUTH", "SYSTEM", "OTHER"] {
                let identity = try hashes(event(with: #""event":"\#(kind)","reason":"\#(reason)""#)).identity
                #expect(identities.insert(identity).inserted)
                let without = IdentityKey.identitiesWithoutReason(identity)
                #expect(without.count { $0 == plain } == 1)
            }
        }
    }

    @Test("whether a content's hash is told is part of the identity of content, and can be taken off again")
    func identityCoversAHash() throws {
        let hash = #","contentHash":"d41d8cd98f00b204e9800998ecf8427e""#
        let other = #","contentHash":"0cc175b9c0f1b6a831c399e269772661""#
        for kind in [#""event":"content_cached""#, #""event":"prefetch_used_for_notification""#] {
            let told = try hashes(event(with: kind + hash)).identity
            let plain = try hashes(event(with: kind)).identity
            #expect(told != plain && IdentityKey.identityWithoutHash(told) == plain)
            #expect(try hashes(event(with: kind + other)).identity == told)
        }
        let success = #""event":"prefetch_success""#
        #expect(try hashes(event(with: success + hash)).identity == hashes(event(with: success)).identity)
    }

    @Test("a cycle is identified by installation and schedule id, or else by its notification time")
    func cycleIdentity() throws {
        let base = try hashes(event(with: #""scheduledFor":"2025-11-15T05:53:00Z""#))
        #expect(try hashes(event(with: #""event":"prefetch_executed""#)).cycle == base.cycle)
        #expect(try hashes(event(with: #""installationId":"1""#)).cycle != base.cycle)
        let due = #""timestamp":"2025-11-15T05:48:32Z","scheduledFor":"2025-11-15T05:53:00Z"}"#
        let byTime = try hashes(#"{"event":"prefetch_success","# + due)
        #expect(try hashes(#"{"event":"prefetch_failure","# + due).cycle == byTime.cycle)
        #expect(byTime.cycle != base.cycle)
        #expect(try hashes(#"{"event":"plugin_started","timestamp":"2025-11-15T05:48:32Z"}"#).cycle == nil)
    }

    @Test("another key gives other identity hashes")
    func identityDependsOnTheKey() throws {
        let bytes = decode(event(with: #""ttl":1"#)).events.bytes
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: bytes.span))
        #expect(key.identity(of: event, in: bytes.span) != IdentityKey(1, 3).identity(of: event, in: bytes.span))
    }
}
