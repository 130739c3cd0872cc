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
