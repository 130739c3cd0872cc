// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import TelemetryEvents

@Suite("Secrets in events and lines")
struct SecretCorpusTests {
    @Test("the corpus holds 300 different secrets")
    func corpusIsWhole() {
        #expect(SecretCorpus.all.count == 300)
        #expect(Set(SecretCorpus.all.map(\.text)).count == 300)
    }

    @Test("a secret in the midst of other bytes is found, as it was sent and in lower case")
    func secretsAreFound() throws {
        #expect(try SecretCorpus.found(in: Data("nothing here\n\u{0}\u{1}".utf8)).isEmpty)
        for secret in [SecretCorpus.all[0], SecretCorpus.all[150], SecretCorpus.all[299]] {
            for part in secret.parts {
                for text in [part, part.lowercased()] {
                    let bytes = Data([0, 0xFF, 10]) + Data("key=\(text)&".utf8) + Data(repeating: 0, count: 100)
                    #expect(try SecretCorpus.found(in: bytes).contains(text))
                }
            }
        }
    }

    private static let fields = [
        "scheduleId", "id", "eventId", "error", "reason", "appVersion", "osVersion", "platform", "deviceModel",
        "contentHash", "md5", "scheduleHash", "installationId", "title", "network", "message", "minutes", "schedules",
    ]

    @Test("none of 300 secrets leaves the JSON decoder, whatever field it is sent in", arguments: fields)
    func noSecretInJSON(field: String) throws {
        for secret in SecretCorpus.all {
            let text = try Self.quoted(secret.text)
            for member in ["\"\(field)\":\(text)", "\"\(field)\":{\"x\":\(text)}", "\"\(field)\":[\(text)]"] {
                expectClean(decode(event(with: member), as: .lines), of: secret, in: field)
            }
        }
    }

    @Test("none of 300 secrets leaves the decoder in a broken body, an unknown kind, a counter's name or a time")
    func noSecretInBrokenBodies() throws {
        for secret in SecretCorpus.all {
            let text = try Self.quoted(secret.text)
            let inner = String(text.dropFirst().dropLast())
            for body in [
                text, "[\(text)]", "{\(text):1}", "{\"event\":\(text)}", event(with: "\(text):1"),
                event(with: #""schedules":[{"id":\#(text),"scheduleHash":\#(text),\#(text):1}]"#),
                event(with: #""schedules":[{"id":\#(text)}]"#),
                event(with: #""schedules":[{"notificationTime":\#(text)}]"#),
                #"{"error":\#(text),"message":\#(text),"timestamp":"2025-11-15T05:48:32Z"}"#,
                event(with: #""telemetry":{\#(text):1}"#), event(with: #""timestamp":\#(text)"#),
                event(with: #""scheduledFor":\#(text)"#), event(with: #""ttl":\#(text)"#),
                event(with: #""error":"\#(inner)"#), String(event(with: #""eventId":\#(text)"#).dropLast(4)),
                #"{"events":[\#(text)],"sentAt":\#(text)}"#, inner, "{\(inner)",
            ] {
                for framing in [JSONEventDecoder.Framing.document, .lines] {
                    expectClean(decode(body, as: framing), of: secret, in: body)
                }
            }
        }
    }

    private static let wrappers: [@Sendable (String) -> String] = [
        { "[DNP-FETCH] \($0)" },
        { "2025-11-15T05:48:32Z [DNP-FETCH] \($0)" },
        {
            "2025-11-15 05:48:32.123456-0800 0x1a2b Default 0x0 321 0 App: [com.timesafari.dailynotification:fetch] \($0)"
        },
        { "2025-11-15 05:48:32.123 Df App[321:4d5e] [com.timesafari.dailynotification:fetch] \($0)" },
        { "Nov 15 05:48:32 phone App(Plugin)[321] <Notice>: [DNP-FETCH] \($0)" },
        { "2025-11-15 05:48:32.123456+0000 App[321:456] [DNP-FETCH] \($0)" },
        { "11-15 05:48:32.123  1234  1235 I DNP-FETCH: \($0)" },
        { "11-15 05:48:32.123 I/DNP-FETCH( 1234): \($0)" },
        { "I/DNP-FETCH( 1234): \($0)" },
        { "<14>Nov 15 05:48:32 phone App[12]: [DNP-FETCH] \($0)" },
        { "<14>1 2025-11-15T05:48:32Z phone App 12 - - [DNP-FETCH] \($0)" },
        { "2025-11-15T05:48:32+0000 host App[12]: [DNP-FETCH] \($0)" },
    ]
    private static let messages: [@Sendable (String) -> String] = [
        { "Fetch success (id=\($0), status=200)" },
        { "Fetch failed: error=\($0), willRetry=false" },
        { "Fetch failed (error=Error Domain=\($0) Code=1, reason=\($0))" },
        { "Cached content MD5: \($0)" },
        { "Cached content for scheduleId=\($0)" },
        { "Sang for \($0)" },
        { "API call: GET https://\($0)/?q=\($0) (JWT \($0), ETag=\($0), id=\($0))" },
        { "Persisted schedule to DB (id=\($0), type=\($0))" },
        { "Background fetch scheduling failed: Error Domain=\($0) Code=1" },
        { "invalid_time_format \($0)" },
        { "Time warp simulated: \($0)" },
    ]

    @Test(
        "none of 300 secrets leaves the log decoder, its state or its explanations, in any wrapper",
        arguments: 0..<12
    )
    func noSecretInLines(wrapper: Int) throws {
        var options = LogDecoderOptions()
        options.unrecognisedLimit = 10
        for secret in SecretCorpus.all {
            var lines = Self.messages.map { Self.wrappers[wrapper]($0(secret.text)) }
            lines.append("Nov 15 05:48:33 \(secret.text) App[12]: [DNP-FETCH] Fetch success (id=notif-1)")
            lines.append("[DNP-\(secret.text)] x")
            lines += ["[DNP-PLUGIN] \(secret.text)", "[DNP-PLUGIN] code_\(secret.text)", "DNP-\(secret.text): x"]
            lines.append(#"{"event":"[DNP-FETCH] Fetch success (id=\#(secret.text))","timestamp":"\#(secret.text)"}"#)
            var decoder = logDecoder(options)
            var decoded = decoder.decode(Array(lines.joined(separator: "\n").utf8).span, readAt: readingTime)
            expectClean(decoder.state, of: secret, in: "the state of wrapper \(wrapper)")
            decoded.append(decoder.flush(readAt: readingTime))
            expectClean(decoded, of: secret, in: "wrapper \(wrapper)")
            // An explanation shows the words of a user's own file.
            for line in decoder.unrecognised where secret.kind != "name" {
                expectClean(Array((line.text + line.problem).utf8), of: secret, in: "an explanation")
            }
        }
    }

    // MARK: Checks

    static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self).replacing("\\/", with: "/")
    }

    private func expectClean(_ decoded: DecodedEvents, of secret: SecretCorpus.Secret, in place: String) {
        expectClean(decoded.events.bytes, of: secret, in: place)
        for rejection in decoded.rejections {
            expectClean(Array(rejection.description.utf8), of: secret, in: "a rejection of \(place)")
        }
    }

    private func expectClean(_ bytes: [UInt8], of secret: SecretCorpus.Secret, in place: String) {
        if secret.isFound(in: Data(bytes)) { Issue.record("\(secret) stands in \(place)") }
    }
}

@Suite("Ids that became pseudonyms")
struct OriginalHashTests {
    /// A version of the decoder that keeps ids, as versions before pseudonyms did.
    private struct KeptIdentifiers: Pseudonymising {
        var keepsIdentifiers: Bool { true }
        func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { PlainPseudonyms().pseudonym(of: bytes) }
    }

    private static let key = IdentityKey(1, 2)

    private func hashes(_ records: [UInt8]) throws -> [(identity: UInt64, schedule: UInt64?)] {
        var hashes: [(identity: UInt64, schedule: UInt64?)] = []
        var cursor = EventCursor()
        while let event = try cursor.next(in: records.span) {
            hashes.append(Self.key.hashes(of: event, in: records.span))
            #expect(hashes.last?.identity == Self.key.identity(of: event, in: records.span))
            #expect(hashes.last?.schedule == Self.key.schedule(of: event, in: records.span))
            #expect(hashes.last?.schedule == Self.key.cycle(of: event, in: records.span))
        }
        return hashes
    }

    private func before(_ text: String) -> DecodedEvents {
        JSONEventDecoder.decode(
            Array(text.utf8).span,
            framing: .lines,
            receivedAt: received,
            pseudonyms: KeptIdentifiers(),
            identityKey: Self.key
        )
    }

    @Test(
        "an event with a pseudonym has the identity and the cycle of the event with the id, as a ledger may hold it",
        arguments: [
            #""scheduleId":"4155550127""#, #""eventId":"01JCQ7Z4M8XW5V9T2R6K3N1P0B""#,
            #""scheduleId":"Jane Doe","eventId":"1""#,
            #""scheduleId":"Jane Doe","eventId":"a b","installationId":"phone""#,
        ]
    )
    func originalsJoin(members: String) throws {
        let old = before(event(with: members))
        let new = decode(event(with: members), as: .lines)
        #expect(old.events.bytes != new.events.bytes)
        #expect(new.identities == old.identities)
        let (first, second) = (try hashes(old.events.bytes)[0], try hashes(new.events.bytes)[0])
        #expect(first.identity == second.identity && first.schedule == second.schedule)
        #expect(new.identities == [second.identity])
    }

    @Test("the record of an event holds the hashes of its ids after it was read and written again")
    func originalsSurviveARecord() throws {
        let records = decode(event(with: #""scheduleId":"Jane Doe""#)).events.bytes
        var cursor = EventCursor()
        let read = try #require(try cursor.next(in: records.span))
        var again = EventBatch()
        again.append(read, texts: records.span)
        #expect(again.bytes == records)
    }

    private static let log = """
        2025-11-15T05:48:00Z [DNP-FETCH] BGTask handler invoked (id=dnp.fetch)
        2025-11-15T05:48:01Z [DNP-FETCH] Starting fetch (scheduleId=call-4155550127)
        2025-11-15T05:48:03Z [DNP-FETCH] Fetch success (status=200)
        2025-11-15T05:53:00Z [DNP-FETCH] Using cached content for notification

        """

    @Test("lines of a schedule with a pseudonym join the events with its id, line by line and over a restart")
    func linesJoin() throws {
        let text = Array(Self.log.utf8)
        let options = LogDecoderOptions(isLive: true)
        var old = LogDecoder(options, pseudonyms: KeptIdentifiers(), identityKey: Self.key)
        var kept = old.decode(text.span, readAt: readingTime)
        kept.append(old.flush(readAt: readingTime))
        let expected = try hashes(kept.events.bytes)
        #expect(expected.count >= 3 && Set(expected.map(\.schedule)).count == 1)

        var whole = logDecoder(options)
        var decoded = whole.decode(text.span, readAt: readingTime)
        decoded.append(whole.flush(readAt: readingTime))
        #expect(try hashes(decoded.events.bytes).map(\.schedule) == expected.map(\.schedule))
        #expect(decoded.identities == kept.identities)
        #expect(decoded.altered[.scheduleId] == UInt64(expected.count))

        let half = try #require(Self.log.range(of: "2025-11-15T05:48:03Z")).lowerBound
        var first = logDecoder(options)
        var pieces = first.decode(Array(Self.log[..<half].utf8).span, readAt: readingTime)
        var second = try LogDecoder(
            restoring: first.state,
            options,
            pseudonyms: PlainPseudonyms(),
            identityKey: Self.key
        )
        pieces.append(second.decode(Array(Self.log[half...].utf8).span, readAt: readingTime))
        pieces.append(second.flush(readAt: readingTime))
        #expect(try hashes(pieces.events.bytes).map(\.schedule) == expected.map(\.schedule))
    }

    @Test("a decoder's state of the version before is read, and its ids become pseudonyms")
    func olderStateIsRead() throws {
        let options = LogDecoderOptions(isLive: true)
        let half = try #require(Self.log.range(of: "2025-11-15T05:48:03Z")).lowerBound
        var old = LogDecoder(options, pseudonyms: KeptIdentifiers(), identityKey: Self.key)
        _ = old.decode(Array(Self.log[..<half].utf8).span, readAt: readingTime)
        var state = old.state
        let id = Array("call-4155550127".utf8)
        let place = try #require(state.indices.first { state[$0...].starts(with: id) })
        state.removeSubrange(place + id.count..<place + id.count + 8)
        // Behind the two planned times, which it has not: when it was seen.
        var seen: [UInt8] = [1]
        seen.appendVarint(zigzag: try #require(old.binder.binding.devices.first?.cycles.first?.seen).microseconds)
        #expect(state[(place + id.count + 2)...].starts(with: seen))
        state.removeSubrange((place + id.count + 2)..<(place + id.count + 2 + seen.count))
        // Behind its progress: its results, and its installation, which is none.
        state.removeSubrange(place + id.count + 3..<place + id.count + 5)
        // At the end of its stream: no refusal to schedule.
        state.removeSubrange(state.count - 12..<state.count - 10)
        // Behind the assumed time, the last absolute one, the count of lines and the header of logcat: no cycles carried over.
        #expect(old.binder.binding.anchor == nil)
        var head: [UInt8] = [4]
        head.appendVarint(zigzag: old.binder.assumedTime.microseconds)
        head.append(0)
        head.appendVarint(old.binder.binding.lineCount)
        state.remove(at: head.count + 1)
        state[0] = 2
        let end = state.count - 8
        let code = Self.key.text(state.span, 0..<end)
        for index in 0..<8 { state[end + index] = UInt8(truncatingIfNeeded: code >> UInt64(8 * index)) }

        var new = try LogDecoder(restoring: state, options, pseudonyms: PlainPseudonyms(), identityKey: Self.key)
        #expect(!new.state.contains(id))
        var decoded = new.decode(Array(Self.log[half...].utf8).span, readAt: readingTime)
        decoded.append(new.flush(readAt: readingTime))
        let kept = before(
            #"{"event":"prefetch_success","scheduleId":"call-4155550127","timestamp":"2025-11-15T05:48:03Z"}"#
        )
        #expect(try hashes(decoded.events.bytes).first?.schedule == hashes(kept.events.bytes).first?.schedule)
        #expect(!decoded.events.bytes.contains(id))
    }
}
