// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Invalid JSON events are rejected one by one")
struct JSONRejectionTests {
    static let valid = event(with: #""ttl":1"#)

    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let reason: RejectionReason
        let field: EventField?
        var testDescription: String { "\(reason.name) \(text.prefix(60))" }

        init(_ text: String, _ reason: RejectionReason, _ field: EventField? = nil) {
            self.text = text
            self.reason = reason
            self.field = field
        }
    }

    static let cases: [Case] = [
        Case("{}", .missingField, .event),
        Case(#"{"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .missingField, .event),
        Case(#"{"event":"prefetch_success","scheduleId":"a"}"#, .missingField, .timestamp),
        Case(#"{"event":"prefetch_success","timestamp":"2025-11-15T05:48:32Z"}"#, .missingField, .scheduleId),
        Case(#"{"event":null,"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .missingField, .event),
        Case(#"{"event":"prefetch_lost","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .unknownKind, .event),
        Case(#"{"event":7,"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, .wrongType, .event),
        Case(event(with: #""timestamp":1763185712"#), .wrongType, .timestamp),
        Case(event(with: #""timestamp":"yesterday""#), .invalidTimestamp, .timestamp),
        Case(event(with: #""timestamp":"2025-02-29T00:00:00Z""#), .invalidTimestamp, .timestamp),
        Case(event(with: #""timestamp":"2025-11-15T05:48:32""#), .invalidTimestamp, .timestamp),
        Case(event(with: #""timestamp":"2019-12-31T23:59:59.999999Z""#), .timestampTooOld, .timestamp),
        Case(event(with: #""timestamp":"2025-11-17T09:46:40.000001Z""#), .timestampInFuture, .timestamp),
        Case(event(with: #""scheduledFor":"2101-01-01T00:00:00Z""#), .outOfRange, .scheduledFor),
        Case(event(with: #""duration_ms":-1"#), .outOfRange, .durationMs),
        Case(event(with: #""duration_ms":"12""#), .wrongType, .durationMs),
        Case(event(with: #""duration_ms":1e300"#), .outOfRange, .durationMs),
        Case(event(with: #""ttl":1.5"#), .outOfRange, .ttl),
        Case(event(with: #""ttl":99999999999999999999999999"#), .outOfRange, .ttl),
        Case(event(with: #""status":1000"#), .outOfRange, .status),
        Case(event(with: #""willRetry":"yes""#), .wrongType, .willRetry),
        Case(event(with: #""willRetry":tru"#), .malformedJSON),
        Case(event(with: #""contentHash":"xyz""#), .wrongType, .contentHash),
        Case(event(with: #""telemetry":[1]"#), .wrongType, .telemetry),
        Case(event(with: #""telemetry":{"dnp_prefetch_success_total":"1"}"#), .wrongType, .telemetry),
        Case(event(with: #""scheduleId":"""#), .outOfRange, .scheduleId),
        Case(event(with: #""scheduleId":"\#(String(repeating: "x", count: 129))""#), .tooLong, .scheduleId),
        Case(event(with: #""x":\#(String(repeating: "[", count: 16))\#(String(repeating: "]", count: 16))"#), .tooDeep),
        Case(event(with: #""x":"\#(String(repeating: "x", count: 65_536))""#), .tooLong),
        Case(event(with: #""x":"\ud800""#), .invalidUTF8),
        Case(event(with: #""x":01"#), .malformedJSON),
        Case(event(with: #""x":+1"#), .malformedJSON),
        Case(event(with: #""x":.5"#), .malformedJSON),
        Case(event(with: #""x":[1,]"#), .malformedJSON),
        Case(event(with: #""x":"\q""#), .malformedJSON),
        Case("[1,2]", .notAnObject),
        Case(event(with: #""ttl":1"#) + " and more", .malformedJSON),
        Case("17", .notAnObject),
        Case("nonsense", .malformedJSON),
    ]

    @Test("a planned time behind the last one that is accepted is refused with that limit")
    func plannedTimeLimit() {
        for field in ["scheduledFor", "notificationTime", "earliestBeginDate"] {
            let refused = decode(event(with: #""\#(field)":"2100-01-01T00:00:00Z""#)).rejections.map { "\($0)" }
            let name = field == "earliestBeginDate" ? field : "scheduledFor"
            #expect(refused == ["\(name): expected a time before 2100-01-01, found a later one"])
            #expect(decode(event(with: #""\#(field)":"2099-12-31T23:59:59Z""#)).rejections.isEmpty)
        }
    }

    @Test("an invalid line between two valid ones is rejected alone, with reason and field", arguments: cases)
    func invalidLineIsRejectedAlone(_ broken: Case) {
        guard broken.text != "[1,2]" else { return }
        let decoded = decode("\(Self.valid)\n\(broken.text)\n\(Self.valid)\n", as: .lines)
        #expect(decoded.events.count == 2)
        #expect(decoded.rejections == [Rejection(index: 1, reason: broken.reason, field: broken.field)])
    }

    @Test("an invalid array element between two valid ones is rejected alone, with reason and field", arguments: cases)
    func invalidElementIsRejectedAlone(_ broken: Case) {
        guard !broken.text.hasSuffix("more") else { return }
        let decoded = decode("[\(Self.valid),\(broken.text),\(Self.valid)]")
        #expect(decoded.events.count == 2)
        let alone = broken.text.hasPrefix("{")
        let reason = alone ? broken.reason : .notAnObject
        #expect(decoded.rejections == [Rejection(index: 1, reason: reason, field: alone ? broken.field : nil)])
    }

    @Test("an invalid object costs no other object on its line", arguments: cases)
    func invalidObjectCostsNoNeighbour(_ broken: Case) {
        guard broken.text.hasSuffix("}"), broken.reason != .tooLong else { return }
        let decoded = decode("\(Self.valid)\(broken.text) \(Self.valid)\n", as: .lines)
        #expect(decoded.events.count == 2)
        #expect(decoded.rejections == [Rejection(index: 1, reason: broken.reason, field: broken.field)])
    }

    @Test("a truncated input loses only the truncated event", arguments: [40, 90, 100, 120])
    func truncatedInputLosesOneEvent(length: Int) {
        let text = "[\(Self.valid),\(Self.valid)"
        let decoded = decode(String(text.prefix(Self.valid.utf8.count + 2 + length)))
        #expect(decoded.events.count == (length >= Self.valid.utf8.count ? 2 : 1))
        #expect(decoded.rejections.map(\.reason) == [.truncated])
    }

    @Test("an event with invalid UTF-8 is rejected and its neighbours are accepted")
    func invalidUTF8IsRejectedAlone() {
        for bad: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] {
            let head = Array(#"{"event":"prefetch_success","timestamp":"2025-11-15T05:48:32Z","scheduleId":""#.utf8)
            let bytes = Array(Self.valid.utf8) + [0x0A] + head + bad + Array("\"}\n".utf8) + Array(Self.valid.utf8)
            let decoded = decode(bytes, as: .lines)
            #expect(decoded.events.count == 2)
            #expect(decoded.rejections == [Rejection(index: 1, reason: .invalidUTF8, field: .scheduleId)])
        }
    }

    @Test("a missing quote costs its own line and no other")
    func missingQuoteCostsOneLine() {
        let broken = #"{"event":"prefetch_success","scheduleId":"a,"timestamp":"2025-11-15T05:48:32Z"}"#
        for text in ["\(broken)\n\(Self.valid)\n\(Self.valid)", "\(Self.valid)\n\(broken)\n\(Self.valid)"] {
            #expect(decode(text, as: .lines).events.count == 2)
            #expect(decode(text).events.count == 2)
        }
        #expect(decode("[\n\(Self.valid),\n\(broken),\n\(Self.valid)\n]").events.count == 2)
    }

    @Test("a missing brace in NDJSON sent as a document costs no later line")
    func missingBraceCostsNoLaterLine() {
        let decoded = decode("{\"event\":\"prefetch_success\",\n\(Self.valid)\n\(Self.valid)")
        #expect(decoded.events.count == 2)
    }

    @Test("an invalid object that contains objects on their own lines is one rejection")
    func nestedObjectsAreOneRejection() {
        let decoded = decode("{\"event\":\"x\",\"telemetry\":\n{\"a\":1}}")
        #expect(decoded.rejections == [Rejection(index: 0, reason: .unknownKind, field: .event)])
    }

    @Test("a rejection's description names the field and never repeats the input")
    func descriptionNeverRepeatsInput() {
        let secret = "someone@example.org"
        let decoded = decode(event(with: #""ttl":"\#(secret)""#))
        #expect(
            "\(decoded.rejections[0])"
                == "ttl: expected a whole number of seconds from 0 to 315360000, found a value of another type"
        )
        #expect(!"\(decoded.rejections)".contains(secret))
    }

    @Test("rejections are counted beyond the number that is listed")
    func rejectionsBeyondTheLimitAreCounted() {
        let decoded = decode(String(repeating: "x\n", count: JSONLimits.namedRejections + 5), as: .lines)
        #expect(decoded.rejections.count == JSONLimits.namedRejections)
        #expect(decoded.rejected == JSONLimits.namedRejections + 5)
    }
}

@Suite("Decoding hostile JSON in linear time")
struct JSONCostTests {
    /// Inputs of one shape in two sizes. A quadratic decoder would not finish the larger one within the time limit.
    @Test(
        "hostile repetition is decoded in linear time",
        .timeLimit(.minutes(1)),
        arguments: [
            "{[\n", "{}", "[]", "[", "{\"events\":[", "{\"a\n", "x{", "{\"events\":[}", "[{\"a\":[", "{}\n[", "\"",
            "{\"a\":\"\\",
        ]
    )
    func hostileRepetitionIsLinear(piece: String) {
        let text = String(repeating: piece, count: 200_000 / piece.utf8.count)
        for framing in [JSONEventDecoder.Framing.document, .lines] {
            let decoded = decode(text, as: framing)
            #expect(decoded.events.count == 0)
        }
    }

    @Test("brackets in every text field are decoded in linear time", .timeLimit(.minutes(1)))
    func bracketsInTextsAreLinear() {
        let brackets = String(repeating: "(", count: 60_000)
        let line = event(with: #""error":"\#(brackets)""#)
        let decoded = decode(String(repeating: line + "\n", count: 200), as: .lines)
        #expect(decoded.events.count == 200)
    }
}
