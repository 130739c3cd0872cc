// SPDX-License-Identifier: Apache-2.0

import Foundation
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

@Suite("The page on the second app")
struct DocumentedRefreshLinesTests {
    @Test("the documented forms of lines match the rules")
    func formsMatchTheRules() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/second-app.md"), encoding: .utf8)
        let rows = LogGrammar.refreshRules.compactMap { rule in
            rule.form.kind.map { "| `\(rule.opening)` | `\($0.name)` |" }
        }
        #expect(rows.count == 9)
        #expect(
            page.split(separator: "\n").filter { $0.hasSuffix("` |") && $0.hasPrefix("| `") }.map(String.init) == rows
        )
    }
}

/// A line of the background refresh and the event that it becomes.
struct RefreshLine: CustomTestStringConvertible, Sendable {
    var text: String
    var event: String

    var testDescription: String { text }

    static let all = [
        RefreshLine(text: "Background refresh task started", event: #""event":"refresh_started""#),
        RefreshLine(
            text: "Last test was 100 days ago. Available: true",
            event: #""event":"refresh_checked","properties":{"daysSinceTest":100,"available":true}"#
        ),
        RefreshLine(
            text: "Last test was 0 days ago. Available: false",
            event: #""event":"refresh_checked","properties":{"daysSinceTest":0,"available":false}"#
        ),
        RefreshLine(
            text: "Background refresh completed in 1.25s with success: true",
            event: #""event":"refresh_completed","properties":{"success":true,"durationSeconds":1.25}"#
        ),
        RefreshLine(
            text: "Background refresh completed in 20.00s with success: false",
            event: #""event":"refresh_completed","properties":{"success":false,"durationSeconds":20}"#
        ),
        RefreshLine(text: "Background refresh task expired before completion", event: #""event":"refresh_expired""#),
        RefreshLine(
            text: "Skipping refresh: User not authenticated",
            event: #""event":"refresh_skipped","properties":{"reason":"NOT_AUTHENTICATED"}"#
        ),
        RefreshLine(
            text: "Skipping refresh: No network connection",
            event: #""event":"refresh_skipped","properties":{"reason":"NO_NETWORK"}"#
        ),
        RefreshLine(
            text: "Skipping refresh: Last refresh was too recent",
            event: #""event":"refresh_skipped","properties":{"reason":"TOO_RECENT"}"#
        ),
        RefreshLine(
            text: "Scheduled background refresh for 4.0 hours from now",
            event: #""event":"refresh_scheduled","properties":{"hours":4}"#
        ),
        RefreshLine(
            text: "Failed to schedule background refresh",
            event: #""event":"refresh_schedule_failed""#
        ),
        RefreshLine(text: "Sent test available notification", event: #""event":"refresh_notification_sent""#),
        RefreshLine(text: "Sent test available notificat", event: #""event":"refresh_notification_sent""#),
        RefreshLine(
            text: "Skipping notification: Not authorized",
            event: #""event":"refresh_notification_skipped","properties":{"reason":"NOT_AUTHORIZED"}"#
        ),
        RefreshLine(
            text: "Skipping notification: Already notified 12 days ago",
            event:
                #""event":"refresh_notification_skipped","properties":{"reason":"ALREADY_NOTIFIED","daysSinceNotification":12}"#
        ),
    ]
}

@Suite("Lines of the background refresh")
struct RefreshLineTests {
    /// The events of a log without times, installations and platforms.
    static func events(_ log: String, _ wrapper: LogWrapper? = nil) throws -> [String] {
        var options = LogDecoderOptions()
        options.wrapper = wrapper
        return try LogReading(log, options).events.map {
            $0.replacing(/"timestamp":"[^"]*",?/, with: "").replacing(/,?"(platform|installation)":"[^"]*"/, with: "")
                .replacing(",}", with: "}")
        }
    }

    @Test("each line becomes its event in every wrapper", arguments: RefreshWrapper.all)
    func everyLineInEveryWrapper(wrapper: RefreshWrapper) throws {
        for line in RefreshLine.all {
            let log = wrapper.line(line.text) + "\n"
            #expect(try Self.events(log, wrapper.forced) == ["{\(line.event)}"], "\(log)")
            if wrapper.isDetected { #expect(try Self.events(log) == ["{\(line.event)}"], "\(log)") }
        }
    }

    @Test("each line copied from Console.app of the process AIQ becomes its event, and an unknown one is foreign")
    func everyLineOfConsole() throws {
        for line in RefreshLine.all {
            let log = "default\t05:53:00.000000+0000\tAIQ\t\(line.text)\n"
            #expect(try Self.events(log) == ["{\(line.event)}"], "\(log)")
        }
        let other = try LogReading("default\t05:53:00.000000+0000\tAIQ\tReticulating splines\n")
        #expect(other.lines.foreign == 1)
    }

    @Test(
        "a number that a cut ends is not kept",
        arguments: [
            ("Last test was 100 days ago. Available: true", "refresh_checked", 15...20),
            ("Background refresh completed in 32.25s with success: true", "refresh_completed", 33...37),
            ("Skipping notification: Already notified 80 days ago", "refresh_notification_skipped", 41...45),
            ("Scheduled background refresh for 14.0 hours from now", "refresh_scheduled", 34...38),
        ]
    )
    func cutNumbers(text: String, event: String, lengths: ClosedRange<Int>) throws {
        for length in lengths {
            let events = try Self.events("[BackgroundRefresh] \(text.prefix(length))\n")
            let told = try #require(events.first)
            #expect(told.contains("\"\(event)\"") && events.count == 1)
            #expect(told.firstMatch(of: #/[0-9]/#) == nil, "\(text.prefix(length))")
        }
        #expect(try Self.events("[BackgroundRefresh] \(text)\n").first?.firstMatch(of: #/[0-9]/#) != nil)
    }

    @Test("numbers that no refresh can have are not kept, and neither are the guide's placeholders")
    func hostileNumbers() throws {
        let log = """
            [BackgroundRefresh] Last test was X days ago. Available: true/false
            [BackgroundRefresh] Last test was -1 days ago. Available: false
            [BackgroundRefresh] Last test was 1000000000 days ago. Available: true
            [BackgroundRefresh] Last test was 99999999999999999999999 days ago. Available: true
            [BackgroundRefresh] Background refresh completed in X.XXs with success: true
            [BackgroundRefresh] Background refresh completed in 1e308s with success: true
            [BackgroundRefresh] Background refresh completed in -4.00s with success: true
            [BackgroundRefresh] Background refresh completed in nans with success: maybe
            [BackgroundRefresh] Scheduled background refresh for 1e9 hours from now
            [BackgroundRefresh] Skipping notification: Already notified X days ago

            """
        #expect(
            try Self.events(log) == [
                #"{"event":"refresh_checked"}"#, #"{"event":"refresh_checked","properties":{"available":false}}"#,
                #"{"event":"refresh_checked","properties":{"available":true}}"#,
                #"{"event":"refresh_checked","properties":{"available":true}}"#,
                #"{"event":"refresh_completed","properties":{"success":true}}"#,
                #"{"event":"refresh_completed","properties":{"success":true}}"#,
                #"{"event":"refresh_completed","properties":{"success":true}}"#, #"{"event":"refresh_completed"}"#,
                #"{"event":"refresh_scheduled"}"#,
                #"{"event":"refresh_notification_skipped","properties":{"reason":"ALREADY_NOTIFIED"}}"#,
            ]
        )
    }

    @Test("a marked line of no known form is unrecognised, one of the process alone is foreign")
    func unknownForms() throws {
        let log = """
            [BackgroundRefresh] Reticulating splines
            2025-11-15 05:53:00.000000+0000 AIQ[42:1f2e] Reticulating splines
            2025-11-15 05:53:00.000000+0000 AIQ[42:1f2e] [com.aiq.app:BackgroundRefresh] Reticulating splines
            2025-11-15 05:53:00.000000+0000 AIQ[42:1f2e] [com.aiq.app:Network] Background refresh task started
            2025-11-15 05:53:00.000000+0000 Other[42:1f2e] Background refresh task started
            [BackgroundRefreshing] Background refresh task started
            [DNP-FETCH] Background refresh task started
            [BackgroundRefresh] Fetch success (status=200)

            """
        let reading = try LogReading(log)
        #expect(reading.events.isEmpty)
        #expect(reading.lines.unrecognised == 4)
        #expect(reading.lines.foreign == 4)
    }

    @Test("two apps in one log are no two devices, and lines of one do not change the cycles of the other")
    func twoAppsInOneLog() throws {
        let plugin = (0..<3).map {
            "2025-11-15 05:4\($0):00.000000+0000 App[1:2] [DNP-FETCH] Fetch success (id=n\($0))"
        }
        let refresh = (0..<3).map {
            "2025-11-15 05:4\($0):30.000000+0000 AIQ[7:8] [BackgroundRefresh] Background refresh task started"
        }
        let alone = try LogReading(plugin.joined(separator: "\n") + "\n")
        let mixed = try LogReading(zip(plugin, refresh).flatMap { [$0, $1] }.joined(separator: "\n") + "\n")
        #expect(mixed.events.filter { $0.contains("prefetch") } == alone.events)
        #expect(mixed.events.count == 6)
        var decoder = logDecoder()
        let bytes = Array((plugin + refresh).sorted().joined(separator: "\n").utf8)
        #expect(decoder.decode(bytes.span, readAt: readingTime).doubts.isEmpty)
    }
}

/// How a wrapper writes a line of the background refresh.
struct RefreshWrapper: CustomTestStringConvertible, Sendable {
    var name: String
    var forced: LogWrapper
    /// Whether it is found without being named.
    var isDetected = true
    var line: @Sendable (String) -> String

    var testDescription: String { name }

    private static func object(_ members: KeyValuePairs<String, String>) -> String {
        "{" + members.map { #""\#($0)":"\#($1)""# }.joined(separator: ",") + "}"
    }

    static let all: [RefreshWrapper] =
        WrappedLine.all.filter { $0.name == $0.wrapper.rawValue && $0.wrapper != .appleJSON }.map { wrapped in
            RefreshWrapper(name: "\(wrapped.name) by its marker", forced: wrapped.wrapper) { text in
                wrapped.line("FETCH", "", 0).replacing("[DNP-FETCH] ", with: "[BackgroundRefresh] \(text)")
            }
        } + [
            RefreshWrapper(name: "bare without brackets", forced: .bare) { "BackgroundRefresh: \($0)" },
            RefreshWrapper(name: "oslog by its category", forced: .appleDefault) {
                "2025-11-15 05:53:00.000000+0000 0x1f2e     Default     0x0                  42   0    AIQ: "
                    + "[com.aiq.app:BackgroundRefresh] \($0)"
            },
            RefreshWrapper(name: "oslog by its process", forced: .appleDefault) {
                "2025-11-15 05:53:00.000000+0000 0x1f2e     Default     0x0                  42   0    AIQ: \($0)"
            },
            RefreshWrapper(name: "oslog compact by its category", forced: .appleCompact) {
                "2025-11-15 05:53:00.000 Df AIQ[42:1f2e] (Foundation) [com.aiq.app:BackgroundRefresh] \($0)"
            },
            RefreshWrapper(name: "oslog syslog by its process", forced: .appleSyslog) {
                "2025-11-15 05:53:00.000000+0000  localhost AIQ[42]: (Foundation) \($0)"
            },
            RefreshWrapper(name: "oslog ndjson by its category", forced: .appleNDJSON) {
                object([
                    "eventMessage": $0, "subsystem": "com.aiq.app", "category": "BackgroundRefresh",
                    "timestamp": "2025-11-15 05:53:00.000000+0000",
                ])
            },
            RefreshWrapper(name: "oslog ndjson by its process", forced: .appleNDJSON) {
                object([
                    "eventMessage": $0, "subsystem": "", "category": "", "processImagePath": "/var/AIQ.app/AIQ",
                    "timestamp": "2025-11-15 05:53:00.000000+0000",
                ])
            },
            RefreshWrapper(name: "idevicesyslog by its process", forced: .idevicesyslog) {
                "Nov 15 05:53:00 iPhone AIQ(Foundation)[42] <Notice>: \($0)"
            },
            RefreshWrapper(name: "xcode by its process", forced: .xcode) {
                "2025-11-15 05:53:00.000000+0000 AIQ[42:123456] \($0)"
            },
            RefreshWrapper(name: "logcat threadtime by its tag", forced: .logcatThreadtime) {
                "11-15 05:53:00.000    42    43 I BackgroundRefresh: \($0)"
            },
            RefreshWrapper(name: "logcat time by its tag", forced: .logcatTime) {
                "11-15 05:53:00.000 I/BackgroundRefresh(   42): \($0)"
            },
            RefreshWrapper(name: "logcat brief by its tag", forced: .logcatBrief) {
                "I/BackgroundRefresh(   42): \($0)"
            },
            RefreshWrapper(name: "logcat long by its tag", forced: .logcatLong) {
                "[ 11-15 05:53:00.000    42:   43 I/BackgroundRefresh ]\n\($0)\n"
            },
            RefreshWrapper(name: "logcat raw", forced: .logcatRaw, isDetected: false) { $0 },
            RefreshWrapper(name: "syslog by its program", forced: .rfc3164) {
                "<13>Nov 15 05:53:00 host BackgroundRefresh[42]: \($0)"
            },
            RefreshWrapper(name: "syslog by its process", forced: .rfc3164) {
                "<13>Nov 15 05:53:00 host AIQ[42]: \($0)"
            },
            RefreshWrapper(name: "rfc5424 by its process", forced: .rfc5424) {
                "<165>1 2025-11-15T05:53:00Z host AIQ 42 ID47 - \($0)"
            },
            RefreshWrapper(name: "rfc5424 by its program", forced: .rfc5424) {
                "<165>1 2025-11-15T05:53:00Z host BackgroundRefresh 42 ID47 - \($0)"
            },
            RefreshWrapper(name: "journal by its identifier", forced: .journalJSON) {
                object(["MESSAGE": $0, "SYSLOG_IDENTIFIER": "AIQ", "__REALTIME_TIMESTAMP": "1763185980000000"])
            },
            RefreshWrapper(name: "journal by its identifier, named like the marker", forced: .journalJSON) {
                object([
                    "MESSAGE": $0, "SYSLOG_IDENTIFIER": "BackgroundRefresh", "__REALTIME_TIMESTAMP": "1763185980000000",
                ])
            },
        ]
}
