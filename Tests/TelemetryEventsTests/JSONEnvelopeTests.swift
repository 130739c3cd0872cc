// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Envelopes of JSON events")
struct JSONEnvelopeTests {
    private static let one = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
    private static let two = #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:48:33Z"}"#
    private static let unknown = #"{"event":"nothing","scheduleId":"a","timestamp":"2025-11-15T05:48:33Z"}"#

    /// A member whose value is nested.
    private static func member(_ name: String, _ open: String, _ close: String, _ depth: Int) -> String {
        "\"\(name)\":\(String(repeating: open, count: depth))1\(String(repeating: close, count: depth))"
    }

    /// A member of an envelope that is broken, with the reason of its rejection.
    struct Broken: Sendable, CustomTestStringConvertible {
        let member: String
        let reason: RejectionReason
        var testDescription: String { "\(reason.name) \(member.prefix(40))" }
    }

    static let broken: [Broken] = [
        Broken(member: member("meta", #"{"a":"#, "}", 20), reason: .tooDeep),
        Broken(member: member("meta", "[", "]", 20), reason: .tooDeep),
        Broken(member: member("meta", #"[{"event":"#, "}]", 500), reason: .tooDeep),
        Broken(member: member("telemetry", #"{"a":"#, "}", 20), reason: .tooDeep),
        Broken(member: member("sentAt", "[", "]", 20), reason: .tooDeep),
        Broken(member: #""meta":{"a":tru,"b":[{},{}]}"#, reason: .malformedJSON),
        Broken(member: #""meta":01"#, reason: .malformedJSON),
        Broken(member: #""meta":"\ud800""#, reason: .invalidUTF8),
        Broken(member: #""sentAt":"\ud800""#, reason: .invalidUTF8),
        Broken(member: #""platform":"\ud800""#, reason: .invalidUTF8),
    ]

    @Test("a broken field of an envelope is one rejection behind its events, and costs none of them", arguments: broken)
    func brokenFieldCostsNoEvent(_ broken: Broken) throws {
        for text in [
            "{\(broken.member),\"events\":[\(Self.one),\(Self.two)]}",
            "{\"events\":[\(Self.one),\(Self.two)],\(broken.member)}",
            "{\"events\":[\(Self.one)],\(broken.member),\"events\":[\(Self.two)]}",
        ] {
            for framing in [JSONEventDecoder.Framing.document, .lines] {
                let decoded = decode("\(text)\n\(Self.one)", as: framing)
                #expect(try canonical(decoded) == [Self.one, Self.two, Self.one], "\(text)")
                #expect(decoded.rejections == [Rejection(index: 2, reason: broken.reason, field: .events)], "\(text)")
            }
        }
    }

    @Test("each broken field of an envelope is told, whatever else is wrong with its events")
    func everyBrokenFieldIsTold() throws {
        let deep = Self.member("meta", "[", "]", 17)
        let decoded = decode("{\(deep),\"events\":[\(Self.unknown),\(Self.one)],\(deep),\"x\":1}")
        #expect(try canonical(decoded) == [Self.one])
        #expect(
            decoded.rejections == [
                Rejection(index: 0, reason: .unknownKind, field: .event),
                Rejection(index: 2, reason: .tooDeep, field: .events),
                Rejection(index: 3, reason: .tooDeep, field: .events),
            ]
        )
        #expect(
            "\(decoded.rejections[1])" == "a field beside events: expected at most 16 levels of nesting, found more"
        )
    }

    @Test(
        "an envelope that is malformed between two fields is one rejection, and nothing in it is taken for events",
        arguments: [#""x" {"a":[{},{}]}"#, #"x:{"a":[{},{}]}"#, #""x":1 [{},{"event":"x"}]"#, "]", #""a\q":[{}]"#, ","]
    )
    func malformedEnvelopeIsOneRejection(rest: String) throws {
        let decoded = decode("{\"events\":[\(Self.one)],\(rest)}\n\(Self.two)")
        #expect(try canonical(decoded) == [Self.one, Self.two])
        #expect(decoded.rejections == [Rejection(index: 1, reason: .malformedJSON, field: .events)])
    }

    @Test("a second array of events in an envelope is taken like the first, and the indices go on")
    func secondEventsAreTaken() throws {
        for separator in [",", #","sentAt":"2025-11-15T09:46:39.5Z","#, #","x":{"events":[{}]},"#] {
            let text = "{\"events\":[\(Self.one),\(Self.unknown)]\(separator)\"events\":[7,\(Self.two)]}"
            let decoded = decode(text)
            #expect(try canonical(decoded) == [Self.one, Self.two])
            #expect(decoded.rejections.map(\.index) == [1, 2])
            #expect(decoded.rejections.map(\.reason) == [.unknownKind, .notAnObject])
        }
        #expect(decode(#"{"events":[],"events":[]}"#).received == 0)
    }

    @Test(
        "events that are no array are rejected as such, beside an array too",
        arguments: ["5", "{}", "null", #""x""#]
    )
    func otherEventsAreRejected(value: String) throws {
        let alone = decode("{\"events\":\(value)}")
        #expect(alone.rejections == [Rejection(index: 0, reason: .wrongType, field: .events)])
        #expect("\(alone.rejections[0])" == "events: expected an array of events, found a value of another type")
        for text in [
            "{\"events\":\(value),\"events\":[\(Self.one)]}", "{\"events\":[\(Self.one)],\"events\":\(value)}",
        ] {
            let decoded = decode(text)
            #expect(try canonical(decoded) == [Self.one])
            #expect(decoded.rejections == [Rejection(index: 1, reason: .wrongType, field: .events)])
        }
        let beside = decode(event(with: "\"events\":\(value)"))
        #expect(beside.events.count == 1 && beside.rejected == 0 && beside.unknownFields == 1)
    }

    @Test("an event that is an envelope too loses itself, which is told, and none of its events")
    func eventBesideEventsIsTold() throws {
        let members = String(Self.one.dropFirst().dropLast())
        for text in ["{\(members),\"events\":[\(Self.two)]}", "{\"events\":[\(Self.two)],\(members)}"] {
            let decoded = decode(text)
            #expect(try canonical(decoded) == [Self.two])
            #expect(decoded.rejections == [Rejection(index: 1, reason: .notAnObject, field: .event)])
            #expect("\(decoded.rejections[0])".contains("found both in one object"))
        }
        #expect(decode("{\"event\":null,\"events\":[\(Self.two)]}").rejected == 0)
    }

    @Test("an envelope within an array is one rejection, and its neighbours are accepted")
    func envelopeInArray() throws {
        let decoded = decode("[\(Self.one),{\"events\":[\(Self.one),\(Self.two)]},\(Self.two)]")
        #expect(try canonical(decoded) == [Self.one, Self.two])
        #expect(decoded.rejections == [Rejection(index: 1, reason: .missingField, field: .event)])
    }

    @Test("envelopes and arrays on lines of NDJSON are taken, also beyond the size of an event")
    func longLines() throws {
        let many = Array(repeating: Self.one, count: 1_000).joined(separator: ",")
        for line in ["[\(many)]", "{\"events\":[\(many)]}", "{\"x\":{\"a\":[1]},\"events\":[\(many)]}"] {
            let decoded = decode("\(Self.two)\n\(line)\n\(Self.two)\n", as: .lines)
            #expect(decoded.events.count == 1_002, "\(line.prefix(30))")
            #expect(decoded.rejected == 0)
        }
        let long = event(with: #""x":"\#(String(repeating: "x", count: 70_000))""#)
        #expect(decode("\(Self.two)\n\(long)\n", as: .lines).rejections.map(\.reason) == [.tooLong])
    }

    @Test("an envelope without its end hides none of the lines behind it")
    func cutEnvelopeHidesNoLines() throws {
        for rest in [#","x":{"#, #","x":"abc"#, #","x":[[1,"#, ","] {
            let decoded = decode("{\"events\":[\(Self.one)]\(rest)\n\(Self.two)\n\(Self.two)\n")
            #expect(try canonical(decoded) == [Self.one, Self.two, Self.two], "\(rest)")
            #expect(decoded.rejections.count == 1, "\(rest)")
        }
    }

    @Test("hostile envelopes are decoded in linear time", .timeLimit(.minutes(1)))
    func hostileEnvelopesAreLinear() {
        let deep = String(repeating: "[", count: 17) + String(repeating: "]", count: 17)
        for piece in [
            #""events":[],"#, #""events":5,"#, "\"a\":\(deep),", #""sentAt":"x","events":[],"#, "\"a\":[,", "[],",
        ] {
            let text = "{" + String(repeating: piece, count: 100_000 / piece.utf8.count)
            for framing in [JSONEventDecoder.Framing.document, .lines, .logLines] {
                for end in ["", "\"events\":[]}", "\n{\"events\":[]}"] {
                    #expect(decode(text + end, as: framing).events.count == 0)
                }
            }
        }
        for line in ["{\"events\":[],\"a\n", "{\"events\":[],\"a\":{\n", "{\"a\":\(deep),\n", "{\"events\":[]]{\n"] {
            let text = String(repeating: line, count: 100_000 / line.utf8.count)
            for framing in [JSONEventDecoder.Framing.document, .lines, .logLines] {
                #expect(decode(text, as: framing).events.count == 0)
            }
        }
    }
}
