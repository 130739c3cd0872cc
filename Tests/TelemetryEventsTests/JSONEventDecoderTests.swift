// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Decoding JSON in every shape that clients send")
struct JSONShapesTests {
    let one = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
    let two = #"{"event":"prefetch_success","id":"a","timestamp":"2025-11-15T05:48:33+00:00"}"#

    @Test("a JSON object decodes to one event")
    func objectIsOneEvent() throws {
        #expect(try canonical(decode(one)) == [one])
    }

    @Test("an array, an envelope, NDJSON and concatenated objects decode to the same events")
    func shapesDecodeAlike() throws {
        let expected = [one, #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:48:33Z"}"#]
        #expect(try canonical(decode("[\(one), \(two)]")) == expected)
        #expect(try canonical(decode(#"{"events":[\#(one),\#(two)]}"#)) == expected)
        #expect(try canonical(decode("\(one)\n\(two)\n", as: .lines)) == expected)
        #expect(try canonical(decode("\(one)\r\n\r\n  \(two)", as: .lines)) == expected)
        #expect(try canonical(decode("\(one)\n\(two)\n")) == expected)
        #expect(try canonical(decode("\(one) \(two)")) == expected)
        #expect(try canonical(decode("\(one) \(two)", as: .lines)) == expected)
        #expect(try canonical(decode("\(one) and then \(two)")) == expected)
        #expect(try canonical(decode("\u{FEFF}\(one)\n\(two)")) == expected)
        #expect(try canonical(decode(#"{"events":[\#(one)]}"# + "\n" + two, as: .lines)) == expected)
    }

    @Test("an empty list decodes to no event and no rejection")
    func emptyListIsNoEvent() {
        for text in ["[]", #"{"events":[]}"#, "", "\n\n"] {
            for framing in [JSONEventDecoder.Framing.document, .lines] {
                let decoded = decode(text, as: framing)
                #expect(decoded.received == 0, "\(text)")
                #expect(decoded.isBlank == text.allSatisfy(\.isNewline))
            }
        }
    }

    @Test("sentAt gives every event of its envelope the clock skew, wherever it is", arguments: [true, false])
    func sentAtGivesClockSkew(first: Bool) throws {
        let sentAt = #""sentAt":"2025-11-15T09:46:39.5Z""#
        let text = first ? #"{\#(sentAt),"events":[\#(one),\#(two)]}"# : #"{"events":[\#(one),\#(two)],\#(sentAt)}"#
        let decoded = decode(text)
        let bytes = decoded.events.bytes
        var cursor = EventCursor()
        var skews: [Int64?] = []
        while let event = try cursor.next(in: bytes.span) { skews.append(event.clockSkew) }
        #expect(skews == [500_000, 500_000])
        #expect(decoded.unknownFields == 0)
    }

    @Test("an invalid sentAt costs the clock skew but no event")
    func invalidSentAtCostsNoEvent() throws {
        for sentAt in [#""yesterday""#, "7", "null"] {
            let decoded = decode(#"{"events":[\#(one)],"sentAt":\#(sentAt)}"#)
            #expect(try canonical(decoded) == [one])
            #expect(decoded.received == 1)
            #expect(decoded.unknownFields == 1)
        }
    }

    @Test(
        "other fields of an envelope cost none of its events",
        arguments: [#""timestamp":7"#, #""platform":{"os":[1]}"#]
    )
    func envelopeFieldsCostNoEvent(field: String) throws {
        for text in [#"{\#(field),"events":[\#(one),\#(one)]}"#, #"{"events":[\#(one),\#(one)],\#(field)}"#] {
            let decoded = decode(text)
            #expect(try canonical(decoded) == [one, one])
            #expect(decoded.received == 2)
        }
    }

    @Test("unknown fields are dropped and counted, whatever their value")
    func unknownFieldsAreCounted() throws {
        let decoded = decode(event(with: #""title":"Your daily update","extra":{"a":[1,{"b":null}]},"n":-1.5e3"#))
        #expect(decoded.unknownFields == 3)
        #expect(try canonical(decoded).first?.contains("daily") == false)
    }

    @Test("both dialects of the field names decode alike")
    func fieldNameDialectsDecodeAlike() throws {
        let plugin = decode(
            event(
                with: #"""
                    "duration_ms":1200,"scheduledFor":"2025-11-15T05:53:00Z","status":200,"age":1.5,"contentHash":"AB",
                    "installationId":"x"
                    """#
            )
        )
        let other = decode(
            #"""
            {"event":"prefetch_success","id":"a","timestamp":"2025-11-15T05:48:32Z","fetchDurationMs":1200,
             "notificationTime":"2025-11-15T06:53:00+01:00","httpStatus":200,"ageSeconds":1.5,"md5":"ab","deviceId":"x"}
            """#
        )
        #expect(plugin.events.bytes == other.events.bytes)
        #expect(plugin.events.count == 1)
    }

    @Test("the last of two equal member names counts, and escapes in names and values are resolved")
    func lastMemberWinsAndEscapesResolve() throws {
        let text =
            #"{"event":"prefetch_executed","event":"prefetch_succ\u0065ss","schedule\u0049d":"a\u0062-\u0031","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(
            try canonical(decode(text)) == [
                #"{"event":"prefetch_success","scheduleId":"ab-1","timestamp":"2025-11-15T05:48:32Z"}"#
            ]
        )
        let escaped = decode(event(with: #""installationId":"\u00e4\ud83d\ude00\t""#))
        #expect(escaped.events.bytes == decode(event(with: "\"installationId\":\"ä😀\\t\"")).events.bytes)
    }

    @Test("every event kind is decoded by its name and survives its record")
    func everyKindDecodes() throws {
        for kind in EventKind.allCases where kind.app == .dnp {
            let line = #"{"event":"\#(kind.name)","scheduleId":"s","timestamp":"2025-11-15T05:48:32.000001Z"}"#
            let expected =
                kind == .prefetchExpired
                ? #"{"event":"\#(kind.name)","scheduleId":"s","timestamp":"2025-11-15T05:48:32.000001Z","reason":"SYSTEM"}"#
                : line
            #expect(try canonical(decode(line)) == [expected])
        }
    }

    @Test("every field reappears in the canonical JSON")
    func everyFieldIsCanonical() throws {
        let text = #"""
            {"deviceModel":"iPhone15,2","osVersion":"17.1","appVersion":"1.2.3","platform":"ios","eventId":"e-1",
             "deviceId":"phone","telemetry":{"dnp_prefetch_executed_total":2,"dnp_prefetch_failure_total{reason=\"AUTH\"}":3},
             "scheduleHash":"0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F","contentHash":"abcdefabcdefabcdefabcdefabcdefab","age":180.25,"usedCached":true,"fetched":false,"willRetry":true,
             "error":"Error Domain=NSURLErrorDomain Code=-1009 \"The Internet\"","reason":"network","items":1,"bytes":1234,
             "status":0,"ttl":86400,"duration_ms":2432.5,"earliestBeginDate":"2025-11-15T05:48:00Z",
             "scheduledFor":"2025-11-15T05:53:00Z","timestamp":"2025-11-15T05:48:32.25Z","scheduleId":"s","event":"prefetch_failure"}
            """#
        let expected =
            #"{"event":"prefetch_failure","scheduleId":"s","timestamp":"2025-11-15T05:48:32.250000Z","#
            + #""scheduledFor":"2025-11-15T05:53:00Z","earliestBeginDate":"2025-11-15T05:48:00Z","duration_ms":2432.5,"#
            + #""ttl":86400,"status":0,"bytes":1234,"items":1,"reason":"NETWORK","error":"NSURLErrorDomain Code=-1009","#
            + #""willRetry":true,"fetched":false,"usedCached":true,"age":180.25,"#
            + #""contentHash":"abcdefabcdefabcdefabcdefabcdefab","scheduleHash":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","#
            + #""telemetry":{"dnp_prefetch_executed_total":2,"dnp_prefetch_failure_total{reason=\"AUTH\"}":3},"#
            + #""installation":"00000000065b3d6e0000000000000005","eventId":"e-1","platform":"ios","appVersion":"1.2.3","#
            + #""osVersion":"17.1","deviceModel":"iPhone15,2"}"#
        #expect(try canonical(decode(text)) == [expected])
    }
}

@Suite("The fast path for JSON events")
struct PlainLinesTests {
    private let plain = event(with: #""ttl":1"#)

    @Test("an unknown field counts once, whatever follows the event on its line")
    func unknownFieldCountsOncePerLine() {
        let unknown = event(with: #""x":[1,{"y":2}]"#)
        for line in [unknown, unknown + "\r", unknown + " 1", unknown + "}", unknown + "  \(plain)"] {
            let decoded = decode(line + "\n" + plain, as: .lines)
            #expect(decoded.unknownFields == 1, "\(line)")
        }
        #expect(decode("\(unknown)\(unknown)\n", as: .lines).unknownFields == 2)
        #expect(decode("[\(unknown),\(unknown.dropLast())]", as: .document).unknownFields == 2)
    }

    @Test(
        "an NDJSON event never extends past its line",
        arguments: [
            #""ttl":"# + "\n1", "\n" + #""ttl":1"#, #""ttl""# + "\n:1", #""x":[1,"# + "\n2]", #""error":"a"# + "\n\"",
            #""telemetry":{"# + "\n}",
        ]
    )
    func eventEndsWithItsLine(_ member: String) {
        let decoded = decode(plain + "\n" + event(with: member) + "\n" + plain + "\n", as: .lines)
        #expect(decoded.events.count == 2)
        #expect(decoded.rejections.first?.reason == .truncated)
        #expect(decode(event(with: member)).events.count == (member.contains("error") ? 0 : 1))
    }

    @Test("white space counts towards the maximum line length")
    func whiteSpaceCountsTowardsLineLength() {
        let spaces = String(repeating: " ", count: JSONLimits.eventBytes - plain.utf8.count)
        #expect(decode(plain + spaces + "\n" + plain, as: .lines).events.count == 2)
        let decoded = decode(plain + spaces + " \n" + plain, as: .lines)
        #expect(decoded.events.count == 1)
        #expect(decoded.rejections.map(\.reason) == [.tooLong])
        #expect(decode("  " + plain + spaces, as: .lines).events.count == 1)
    }

    @Test("an altered text leaves the texts before and after it unchanged")
    func alterationLeavesOtherTexts() throws {
        let digits = "0123456789abcdef0123456789abcdef"
        let members = [
            #""eventId":"one","contentHash":"\#(digits.uppercased())","appVersion":"1.2""#,
            #""eventId":"o\u006ee","contentHash":"\#(digits)","appVersion":"1.2""#,
            #""appVersion":"1.2","contentHash":"\#(digits.replacing("abc", with: "aBc"))","eventId":"one""#,
        ]
        let lines = try members.map { try canonical(decode(event(with: $0), as: .lines)) }
        #expect(lines[0].first?.contains(#""contentHash":"\#(digits)","eventId":"one","appVersion":"1.2""#) == true)
        #expect(lines[1] == lines[0])
        #expect(lines[2] == lines[0])
    }

    @Test("every time is parsed with its own date, whatever date was cached")
    func dateCacheKeepsDatesApart() throws {
        let dates = ["2025-11-15", "2025-11-15", "2025-11-14", "2024-02-29", "2025-11-15", "2025-11-35", "2025-11-15"]
        let lines = dates.map { event(with: #""timestamp":"\#($0)T23:59:59.5Z","scheduledFor":"\#($0)t00:00:00z""#) }
        let decoded = decode(lines.joined(separator: "\n"), as: .lines)
        #expect(decoded.rejections.map(\.index) == [5])
        let times = try canonical(decoded).map { $0.dropFirst(#"{"event":"prefetch_success","scheduleId":"a","#.count) }
        for (time, date) in zip(times, dates[..<5] + dates[6...]) {
            #expect(
                time == #""timestamp":"\#(date)T23:59:59.500000Z","scheduledFor":"\#(date)T00:00:00Z"}"#
            )
        }
    }

    @Test("every installation keeps its own pseudonym, however many and however similar they are")
    func pseudonymCacheKeepsInstallationsApart() throws {
        let ids = (0..<3_000).map { index in
            switch index % 3 {
            case 0: "8f14e45f-ceea-467f-a0d3-\(1_000_000_000_00 + index)"
            case 1: "same-head-\(index)-same-tail"
            default: "\(index)"
            }
        }
        let again = ids + ids.reversed() + ids.flatMap { [$0, $0] }
        let lines = again.map { event(with: #""installationId":"\#($0)""#) }.joined(separator: "\n")
        let decoded = decode(lines, as: .lines)
        let bytes = decoded.events.bytes
        var cursor = EventCursor()
        for id in again {
            let event = try #require(try cursor.next(in: bytes.span))
            let expected = PlainPseudonyms().pseudonym(of: Array(id.utf8).span)
            #expect(event.installation == expected, "\(id)")
        }
    }
}
