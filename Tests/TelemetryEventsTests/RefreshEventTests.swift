// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import TelemetryEvents

/// An event of the background refresh as JSON.
private func refresh(_ event: String, _ properties: String? = nil) -> String {
    let properties = properties.map { #","properties":\#($0)"# } ?? ""
    return #"{"event":"\#(event)","timestamp":"2025-11-15T05:53:02Z","installationId":"q1"\#(properties)}"#
}

/// The canonical event without what all have.
private func content(_ line: String) throws -> [String] {
    try canonical(decode(line)).map { event in
        event.replacing(/,"timestamp":"[^"]*"/, with: "")
            .replacing(/,?"installation":"[0-9a-f]+"/, with: "").replacing(#",}"#, with: "}")
    }
}

@Suite("JSON events of the background refresh")
struct RefreshJSONTests {
    @Test(
        "an analytics event becomes the kind of its line",
        arguments: [
            ("backgroundRefreshScheduleFailed", "refresh_schedule_failed", ""),
            ("backgroundRefreshExpired", "refresh_expired", ""),
            ("backgroundRefreshCompleted", "refresh_completed", ""),
            ("backgroundRefreshFailed", "refresh_completed", #""success":false,"#),
            ("backgroundRefreshNotificationSent", "refresh_notification_sent", ""),
            ("backgroundRefreshNotificationFailed", "refresh_notification_failed", ""),
        ]
    )
    func analyticsEventsHaveKinds(name: String, kind: String, property: String) throws {
        let expected = #"{"event":"\#(kind)","properties":{\#(property)"analytics":true}}"#
        #expect(try content(refresh(name)) == [expected])
        #expect(try content(refresh(name, "{}")) == [expected])
        #expect(try content(refresh(name, "null")) == [expected])
    }

    @Test(
        "success is a truth, a 0 or 1, or a text",
        arguments: [
            ("true", true), ("1", true), ("1.0", true), (#""true""#, true), (#""YES""#, true), (#""1""#, true),
            ("false", false), ("0", false), (#""False""#, false), (#""no""#, false), (#"" 0 ""#, false),
        ]
    )
    func successIsReadLeniently(value: String, isSuccessful: Bool) throws {
        let expected = #"{"event":"refresh_completed","properties":{"success":\#(isSuccessful),"analytics":true}}"#
        #expect(try content(refresh("backgroundRefreshCompleted", #"{"success":\#(value)}"#)) == [expected])
    }

    @Test(
        "a duration is in seconds or milliseconds, as a number or in a text",
        arguments: [
            #""durationSeconds":1.25"#, #""durationMs":1250"#, #""durationSeconds":"1.25""#, #""durationMs":"1250.0""#,
            #""durationSeconds":125e-2"#, #""duration":1.25"#,
        ]
    )
    func durationIsReadLeniently(member: String) throws {
        let expected =
            #"{"event":"refresh_completed","properties":{"success":true,"durationSeconds":1.25,"analytics":true}}"#
        let properties = #"{"success":true,\#(member)}"#
        #expect(try content(refresh("backgroundRefreshCompleted", properties)) == [expected])
    }

    @Test(
        "what a kind tells survives its record and its canonical JSON",
        arguments: [
            #"{"event":"refresh_started"}"#,
            #"{"event":"refresh_checked","properties":{"daysSinceTest":100,"available":true}}"#,
            #"{"event":"refresh_completed","properties":{"success":false,"durationSeconds":0.000001}}"#,
            #"{"event":"refresh_expired"}"#, #"{"event":"refresh_skipped","properties":{"reason":"NO_NETWORK"}}"#,
            #"{"event":"refresh_scheduled","properties":{"hours":4.5}}"#,
            #"{"event":"refresh_schedule_failed","error":"BGTaskSchedulerErrorDomain Code=1"}"#,
            #"{"event":"refresh_notification_sent"}"#,
            #"{"event":"refresh_notification_skipped","properties":{"reason":"NOT_AUTHORIZED"}}"#,
            #"{"event":"refresh_notification_skipped","properties":{"reason":"ALREADY_NOTIFIED","daysSinceNotification":3}}"#,
            #"{"event":"refresh_notification_failed"}"#,
            #"{"event":"refresh_schedule_failed","properties":{"analytics":true},"error":"BGTaskSchedulerErrorDomain Code=1"}"#,
            #"{"event":"refresh_completed","properties":{"success":true,"analytics":true}}"#,
        ]
    )
    func canonicalFormIsReadBack(form: String) throws {
        let line = form.replacing(#""event":"#, with: #""timestamp":"2025-11-15T05:53:02Z","event":"#)
        #expect(try content(line) == [form])
        let decoded = decode(line)
        #expect(decoded.unknownFields == 0)
        let again = try canonical(decoded)
        #expect(try again.flatMap { try canonical(decode($0)) } == again)
    }

    @Test("properties before the kind are read like those behind it")
    func propertiesMayPrecedeTheKind() throws {
        let line =
            #"{"properties":{"durationSeconds":1.2,"success":1,"x":[]},"timestamp":"2025-11-15T05:53:02Z","event":"backgroundRefreshCompleted"}"#
        let expected =
            #"{"event":"refresh_completed","properties":{"success":true,"durationSeconds":1.2,"analytics":true}}"#
        #expect(try content(line) == [expected])
        #expect(decode(line).unknownFields == 1)
    }

    @Test("properties of another kind, and members without a meaning, are dropped and counted")
    func otherPropertiesAreDropped() throws {
        let members = (0..<2_000).map { #""key\#($0)":{"a":[1,2]}"# }.joined(separator: ",")
        let properties = #"{"success":"perhaps","hours":4,"user":"anna@example.org","durationSeconds":{},\#(members)}"#
        let line = refresh("backgroundRefreshCompleted", properties)
        #expect(try content(line) == [#"{"event":"refresh_completed","properties":{"analytics":true}}"#])
        #expect(decode(line).unknownFields == 2_004)
    }

    @Test("fields of the plugin on an event of the background refresh are dropped and counted")
    func fieldsOfThePluginAreDropped() throws {
        let fields = #""scheduleId":"a","status":200,"fetched":true,"willRetry":true,"items":5,"ttl":3"#
        let line = #"{"event":"refresh_checked","timestamp":"2025-11-15T05:53:02Z",\#(fields),"daysSinceTest":91}"#
        #expect(try content(line) == [#"{"event":"refresh_checked","properties":{"daysSinceTest":91}}"#])
        #expect(decode(line).unknownFields == 6)
    }

    @Test("an event of the plugin has no properties")
    func eventsOfThePluginHaveNoProperties() throws {
        let line = event(with: #""properties":{"success":true,"durationSeconds":1e308},"hours":4,"success":"x""#)
        let decoded = decode(line)
        #expect(decoded.rejected == 0)
        #expect(decoded.unknownFields == 3)
        #expect(
            try canonical(decoded) == [
                #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
            ]
        )
    }

    @Test(
        "a success may be told in words",
        arguments: [("success", true), ("Succeeded", true), ("failure", false), ("failed", false)]
    )
    func successInWords(word: String, isSuccessful: Bool) throws {
        let decoded = decode(refresh("backgroundRefreshCompleted", #"{"success":"\#(word)"}"#))
        #expect(try canonical(decoded).first?.contains(#""success":\#(isSuccessful)"#) == true)
    }

    @Test(
        "a number out of its range refuses the event alone, with a reason",
        arguments: [
            ("backgroundRefreshCompleted", #"{"durationSeconds":1e308}"#),
            ("backgroundRefreshCompleted", #"{"durationSeconds":-0.1}"#),
            ("backgroundRefreshCompleted", #"{"durationMs":86400001}"#),
            ("backgroundRefreshCompleted", #"{"durationSeconds":"1e400"}"#),
            ("refresh_checked", #"{"daysSinceTest":-1}"#), ("refresh_checked", #"{"daysSinceTest":1e9}"#),
            ("refresh_scheduled", #"{"hours":8785}"#),
            ("refresh_notification_skipped", #"{"daysSinceNotification":100001}"#),
        ]
    )
    func numbersOutOfRangeAreRefused(name: String, properties: String) {
        let decoded = decode("[\(refresh(name, properties)),\(refresh("backgroundRefreshExpired"))]")
        #expect(decoded.events.count == 1)
        #expect(decoded.rejections.map(\.reason) == [.outOfRange])
        #expect(decoded.rejections.map(\.field) == [.properties])
        #expect(decoded.rejections.allSatisfy { "\($0)".hasPrefix("properties: expected an object with at most") })
    }

    @Test(
        "properties that are no JSON refuse the event, others without a meaning do not",
        arguments: [
            (#"{"durationSeconds":NaN}"#, 1), (#"{"success":tru}"#, 1), (#"{"success":true"#, 1), ("[]", 0), ("7", 0),
            (#""text""#, 0), (#"{"durationSeconds":"NaN","success":[true]}"#, 0),
        ]
    )
    func malformedProperties(properties: String, rejected: Int) {
        #expect(decode(refresh("backgroundRefreshCompleted", properties)).rejected >= rejected)
        #expect(rejected > 0 || decode(refresh("backgroundRefreshCompleted", properties)).rejected == 0)
    }

    @Test("damaged and reordered bytes of events never stop the decoder, and whole events beside them are kept")
    func damagedEvents() throws {
        var random = SplitMix64(seed: 13)
        let seeds = [
            refresh("backgroundRefreshCompleted", #"{"success":"yes","durationSeconds":1.25,"a":[{"b":null}]}"#),
            #"{"properties":{"daysSinceTest":"90","available":0},"event":"refresh_checked","hours":3,"timestamp":"2025-11-15T05:53:02Z"}"#,
            refresh("refresh_skipped", #"{"reason":"TOO_RECENT","properties":{}}"#),
        ].map { Array($0.utf8) }
        for round in 0..<6_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
                default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &random))
                }
            }
            let framing = round % 2 == 0 ? JSONEventDecoder.Framing.lines : .document
            let decoded = decode(bytes + Array("\n".utf8) + seeds[0], as: framing)
            #expect(decoded.unknownFields >= 0)
            #expect(decoded.received > 0)
            let again = try canonical(decoded)
            #expect(again.count == decoded.events.count)
            for event in again { #expect(try canonical(decode(event)).count == 1) }
        }
    }

    @Test("an event is as large as it was without the second app")
    func eventSize() {
        #expect(MemoryLayout<Event>.stride == 208)
    }

    @Test("kinds of the second app come behind those of the plugin")
    func kindsOfApps() {
        #expect(EventKind.allCases.filter { $0.app == .dnp }.map(\.rawValue).max() == 33)
        #expect(EventKind.allCases.filter { $0.app == .aiq }.map(\.rawValue) == Array(34...43))
        #expect(EventKind.allCases.allSatisfy { $0.app == .dnp || !$0.belongsToCycle })
    }

    @Test("two results of one moment are two events, and two durations of it are one")
    func identity() {
        func identities(_ properties: String...) -> Set<UInt64> {
            Set(properties.flatMap { decode(refresh("backgroundRefreshCompleted", $0)).identities })
        }
        #expect(identities(#"{"success":true}"#, #"{"success":false}"#, "{}").count == 3)
        #expect(
            identities(#"{"success":true,"durationSeconds":1.2}"#, #"{"success":true,"durationMs":1250}"#).count == 1
        )
    }

    @Test("an analytics event is another event than the line of its time where both count at once")
    func identityOfAnAnalyticsEvent() {
        func identities(_ events: String...) -> Set<UInt64> { Set(events.flatMap { decode($0).identities }) }
        let sent = refresh("backgroundRefreshNotificationSent")
        #expect(identities(sent, refresh("refresh_notification_sent")).count == 2)
        #expect(identities(sent, refresh("refresh_notification_sent", #"{"analytics":true}"#)).count == 1)
        #expect(identities(refresh("backgroundRefreshCompleted"), refresh("refresh_completed")).count == 1)
    }
}
