// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("JSON in every shape that clients send")
struct JSONShapesTests {
    let one = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
    let two = #"{"event":"prefetch_success","id":"a","timestamp":"2025-11-15T05:48:33+00:00"}"#

    @Test("one object is one event")
    func object() throws {
        #expect(try canonical(decode(one)) == [one])
    }

    @Test("an array, an envelope, NDJSON and concatenated objects hold the same two events")
    func shapes() throws {
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

    @Test("an empty list holds nothing and refuses nothing")
    func emptyList() {
        for text in ["[]", #"{"events":[]}"#, "", "\n\n"] {
            for framing in [JSONEventDecoder.Framing.document, .lines] {
                let decoded = decode(text, as: framing)
                #expect(decoded.received == 0, "\(text)")
                #expect(decoded.isBlank == text.allSatisfy(\.isNewline))
            }
        }
    }

    @Test("sentAt gives every event of the envelope its clock skew, wherever it stands", arguments: [true, false])
    func clockSkew(first: Bool) throws {
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

    @Test("a sentAt that is no time costs the skew and no event")
    func badSentAt() throws {
        for sentAt in [#""yesterday""#, "7", "null"] {
            let decoded = decode(#"{"events":[\#(one)],"sentAt":\#(sentAt)}"#)
            #expect(try canonical(decoded) == [one])
            #expect(decoded.received == 1)
            #expect(decoded.unknownFields == 1)
        }
    }

    @Test(
        "what else an envelope says costs none of its events",
        arguments: [#""timestamp":7"#, #""platform":{"os":[1]}"#]
    )
    func otherFieldsOfEnvelope(field: String) throws {
        for text in [#"{\#(field),"events":[\#(one),\#(one)]}"#, #"{"events":[\#(one),\#(one)],\#(field)}"#] {
            let decoded = decode(text)
            #expect(try canonical(decoded) == [one, one])
            #expect(decoded.received == 2)
        }
    }

    @Test("unknown fields are dropped and counted, whatever they hold")
    func unknownFields() throws {
        let decoded = decode(event(with: #""title":"Your daily update","extra":{"a":[1,{"b":null}]},"n":-1.5e3"#))
        #expect(decoded.unknownFields == 3)
        #expect(try canonical(decoded).first?.contains("daily") == false)
    }

    @Test("both dialects of the field names say the same")
    func dialects() throws {
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

    @Test("the last of two members with one name counts, and escapes in names and values are resolved")
    func repeatedAndEscaped() throws {
        let text =
            #"{"event":"prefetch_executed","event":"prefetch_succ\u0065ss","schedule\u0049d":"\u00e4\ud83d\ude00\n","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(
            try canonical(decode(text)) == [
                #"{"event":"prefetch_success","scheduleId":"ä😀\n","timestamp":"2025-11-15T05:48:32Z"}"#
            ]
        )
    }

    @Test("every kind is known by its name and survives its record")
    func kinds() throws {
        for kind in EventKind.allCases {
            let line = #"{"event":"\#(kind.name)","scheduleId":"s","timestamp":"2025-11-15T05:48:32.000001Z"}"#
            let expected =
                kind == .prefetchExpired
                ? #"{"event":"\#(kind.name)","scheduleId":"s","timestamp":"2025-11-15T05:48:32.000001Z","reason":"SYSTEM"}"#
                : line
            #expect(try canonical(decode(line)) == [expected])
        }
    }

    @Test("every field comes back in the canonical form")
    func everyField() throws {
        let text = #"""
            {"deviceModel":"iPhone15,2","osVersion":"17.1","appVersion":"1.2.3","platform":"ios","eventId":"e-1",
             "deviceId":"phone","telemetry":{"dnp_prefetch_executed_total":2,"dnp_prefetch_failure_total{reason=\"AUTH\"}":3},
             "scheduleHash":"0F","contentHash":"abcdef","age":180.25,"usedCached":true,"fetched":false,"willRetry":true,
             "error":"Error Domain=NSURLErrorDomain Code=-1009 \"The Internet\"","reason":"network","items":1,"bytes":1234,
             "status":0,"ttl":86400,"duration_ms":2432.5,"earliestBeginDate":"2025-11-15T05:48:00Z",
             "scheduledFor":"2025-11-15T05:53:00Z","timestamp":"2025-11-15T05:48:32.25Z","scheduleId":"s","event":"prefetch_failure"}
            """#
        let expected =
            #"{"event":"prefetch_failure","scheduleId":"s","timestamp":"2025-11-15T05:48:32.250000Z","#
            + #""scheduledFor":"2025-11-15T05:53:00Z","earliestBeginDate":"2025-11-15T05:48:00Z","duration_ms":2432.5,"#
            + #""ttl":86400,"status":0,"bytes":1234,"items":1,"reason":"NETWORK","error":"NSURLErrorDomain Code=-1009","#
            + #""willRetry":true,"fetched":false,"usedCached":true,"age":180.25,"contentHash":"abcdef","scheduleHash":"0f","#
            + #""telemetry":{"dnp_prefetch_executed_total":2,"dnp_prefetch_failure_total{reason=\"AUTH\"}":3},"#
            + #""installation":"00000000065b3d6e0000000000000005","eventId":"e-1","platform":"ios","appVersion":"1.2.3","#
            + #""osVersion":"17.1","deviceModel":"iPhone15,2"}"#
        #expect(try canonical(decode(text)) == [expected])
    }
}
