// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("What clients tell of their device and their plan")
struct PluginStateEventTests {
    static func told(_ kind: String, _ members: String) -> String {
        #"{"event":"\#(kind)","timestamp":"2025-11-15T05:48:32Z",\#(members)}"#
    }

    static let canonicalLines = [
        told("plugin_started", #""lowPowerMode":true,"pluggedIn":false,"backgroundRefresh":true,"simulator":false"#),
        told("plugin_started", #""network":"wifi","hasPendingSchedules":true,"inProgress":false"#),
        told("api_call", #""network":"none","conditional":true,"authenticated":false"#),
        told("time_warped", #""minutes":-60"#), told("time_warped", #""minutes":5270400"#),
        told("rolling_window", #""pending":60,"limit":64,"today":1,"tomorrow":0"#),
        told("rolling_window", #""telemetry":{"dnp_prefetch_success_total":3},"pending":0"#),
        told(
            "schedule_snapshot",
            #""schedules":[{"scheduleId":"n-1","scheduledFor":"2025-11-15T05:53:00Z","#
                + #""earliestBeginDate":"2025-11-15T05:48:00Z","leadMinutes":5,"#
                + #""scheduleHash":"d41d8cd98f00b204e9800998ecf8427e"},{"scheduleId":"n-2"}]"#
        ),
        told("identity_changed", #""platform":"ios""#), told("cache_cleared", #""network":"cellular""#),
    ]

    @Test("conditions, minutes, windows and plans reappear in the canonical JSON", arguments: canonicalLines)
    func toldReappears(line: String) throws {
        #expect(try canonical(decode(line)) == [line])
        #expect(try canonical(decode(line + "\n", as: .lines)) == [line])
    }

    @Test("other names and null are understood")
    func otherNames() throws {
        let line = Self.told(
            "schedule_snapshot",
            #""schedules":[{"id":"n-1","notificationTime":"2025-11-15T06:53:00+01:00","leadMinutes":null}],"network":"Wi-Fi""#
        )
        let expected = Self.told(
            "schedule_snapshot",
            #""schedules":[{"scheduleId":"n-1","scheduledFor":"2025-11-15T05:53:00Z"}],"network":"wifi""#
        )
        #expect(try canonical(decode(line)) == [expected])
        let scheduled =
            #"{"event":"prefetch_scheduled","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z","leadMinutes":5}"#
        #expect(try canonical(decode(scheduled)) == [scheduled.replacing("leadMinutes", with: "minutes")])
    }

    @Test("the last of two equal members counts, and leaves what stands beside it")
    func lastMemberCounts() throws {
        let line = Self.told(
            "rolling_window",
            #""pending":1,"schedules":[{"id":"a"}],"telemetry":{"dnp_prefetch_success_total":1},"pending":2,"#
                + #""schedules":[{"id":"b"}],"telemetry":{"dnp_prefetch_success_total":2}"#
        )
        let expected = Self.told(
            "rolling_window",
            #""telemetry":{"dnp_prefetch_success_total":2},"pending":2,"schedules":[{"scheduleId":"b"}]"#
        )
        #expect(try canonical(decode(line)) == [expected])
    }

    @Test(
        "a value of the wrong type or out of range rejects its event with its field",
        arguments: [
            (#""lowPowerMode":1"#, "lowPowerMode: expected true or false, found a value of another type"),
            (#""network":5"#, "network: expected \"wifi\", \"cellular\" or \"none\", found a value of another type"),
            (#""network":"x""#, "network: expected \"wifi\", \"cellular\" or \"none\", found one out of range"),
            (
                #""minutes":5270401"#,
                "minutes: expected a whole number of minutes from -5270400 to 5270400, found one out of range"
            ),
            (
                #""minutes":1.5"#,
                "minutes: expected a whole number of minutes from -5270400 to 5270400, found one out of range"
            ),
            (#""pending":-1"#, "pending: expected a whole number from 0 to 1000000, found one out of range"),
            (#""limit":"64""#, "limit: expected a whole number from 0 to 1000000, found a value of another type"),
            (
                #""schedules":{}"#,
                "schedules: expected an array of at most 128 objects, each with scheduleId or notificationTime, "
                    + "found a value of another type"
            ),
            (
                #""schedules":[{}]"#,
                "scheduleId: missing; this kind needs scheduleId, scheduledFor or notificationTime"
            ),
        ]
    )
    func wrongValuesAreRejected(member: String, reason: String) {
        #expect(decode(Self.told("plugin_started", member)).rejections.map(\.description) == [reason])
    }

    @Test("a plan of 128 schedules is taken, one of 129 or of 10,000 is rejected in words")
    func plansAreBounded() throws {
        func plan(_ count: Int) -> DecodedEvents {
            let schedules = (0..<count).map { #"{"id":"n-\#($0)"}"# }.joined(separator: ",")
            return decode(Self.told("schedule_snapshot", #""schedules":[\#(schedules)]"#))
        }
        var found: [String] = []
        let taken = plan(128)
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: taken.events.bytes.span))
        event.forEachPlannedSchedule(in: taken.events.bytes.span) {
            found.append(String(decoding: taken.events.bytes[$0.scheduleId], as: UTF8.self))
        }
        #expect(found == (0..<128).map { "n-\($0)" })
        for count in [129, 10_000] {
            let words = plan(count).rejections.map(\.description)
            #expect(words.count == 1)
            #expect(words.first?.contains("expected an array of at most 128 objects") == true)
        }
    }

    @Test("ids of a plan that are not plain become pseudonyms, its hashes fingerprints")
    func plansAreShaped() throws {
        let decoded = decode(
            Self.told(
                "schedule_snapshot",
                #""schedules":[{"id":"Jane Doe","scheduleHash":"abc123"},{"foo":1,"id":"a"}]"#
            )
        )
        let line = try #require(try canonical(decoded).first)
        #expect(!line.contains("Jane") && line.contains(#""scheduleId":"redacted-h"#))
        #expect(!line.contains("abc123") && line.contains(#""scheduleHash":"h"#))
        #expect(decoded.altered[.scheduleId] == 1 && decoded.altered[.scheduleHash] == 1)
        #expect(decoded.unknownFields == 1)
    }

    @Test(
        "an error object of the plugin is an event; its message is dropped and is no unknown field",
        arguments: [
            ("notifications_denied", PluginErrorCode.notificationsDenied), ("invalid_time_format", .invalidTimeFormat),
            ("scheduling_failed", .schedulingFailed), ("background_refresh_disabled", .backgroundRefreshDisabled),
            ("task_scheduling_failed", .taskSchedulingFailed), ("quota_exceeded", .other),
        ]
    )
    func errorObjects(code: String, expected: PluginErrorCode) throws {
        let line = #"{"error":"\#(code)","message":"Jane said no","timestamp":"2025-11-15T05:48:32Z"}"#
        let decoded = decode(line)
        #expect(decoded.unknownFields == 0)
        #expect(
            try canonical(decoded) == [
                #"{"event":"plugin_error","timestamp":"2025-11-15T05:48:32Z","error":"\#(code)"}"#
            ]
        )
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: decoded.events.bytes.span))
        #expect(PluginErrorCode(event, in: decoded.events.bytes.span) == expected)
        #expect(try LogReading(line).events == canonical(decoded))
    }

    @Test("an object with another error is none, and without a time it is rejected for that")
    func otherErrorObjects() throws {
        let words = #"{"error":"It failed","message":"x","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(decode(words).rejections.map(\.field) == [.event])
        #expect(try LogReading(words).lines.foreign == 1)
        #expect(decode(#"{"error":"scheduling_failed","message":"x"}"#).rejections.map(\.field) == [.timestamp])
    }

    @Test(
        "an error object that is sent as JSON may have any word for its code",
        arguments: ["timeout", "STORAGE_FULL"]
    )
    func errorWords(code: String) throws {
        let line = #"{"error":"\#(code)","message":"x","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(
            try canonical(decode(line)) == [
                #"{"event":"plugin_error","timestamp":"2025-11-15T05:48:32Z","error":"\#(code)"}"#
            ]
        )
        #expect(try LogReading(line).lines.foreign == 1)
    }

    @Test("the answer of another program in a log is no error object of the plugin, where its code is a mere word")
    func answersOfOthers() throws {
        for (code, isForeign) in [("Forbidden", true), ("quota_exceeded", false)] {
            let line = #"{"error":"\#(code)","message":"x","path":"/api","timestamp":"2025-11-15T05:48:32Z"}"#
            #expect(try LogReading(line).lines.foreign == (isForeign ? 1 : 0))
        }
    }

    @Test("two errors of one moment are two events")
    func errorsOfOneMoment() {
        let codes = ["scheduling_failed", "invalid_time_format", "scheduling_failed"]
        let lines = codes.map { #"{"error":"\#($0)","message":"x","timestamp":"2025-11-15T05:48:32Z"}"# }
        #expect(Set(decode(lines.joined(separator: "\n"), as: .lines).identities).count == 2)
    }

    @Test("code 1 of the scheduler is a refusal of background refresh where that is known to be off")
    func codeOfRefusal() throws {
        for (members, expected) in [
            (#""backgroundRefresh":false"#, PluginErrorCode.backgroundRefreshDisabled),
            (#""backgroundRefresh":true"#, .taskSchedulingFailed), (#""ttl":1"#, .taskSchedulingFailed),
        ] {
            let line = Self.told(
                "prefetch_schedule_failed",
                #""error":"Error Domain=BGTaskSchedulerErrorDomain Code=1 \"(null)\"",\#(members)"#
            )
            let bytes = decode(line).events.bytes
            var cursor = EventCursor()
            let event = try #require(try cursor.next(in: bytes.span))
            #expect(PluginErrorCode(event, in: bytes.span) == expected)
        }
    }

    @Test("only a stored schedule belongs to a cycle, and a cancellation may name one")
    func kindsOfPlansAndCycles() throws {
        #expect(EventKind.schedulePersisted.belongsToCycle)
        for kind in [EventKind.prefetchCancelled, .pluginError, .apiCall, .timeWarped, .rollingWindow] {
            #expect(!kind.belongsToCycle)
        }
        let line = Self.told("prefetch_cancelled", #""scheduleId":"a""#)
        #expect(try canonical(decode(line)).first?.contains(#""scheduleId":"a""#) == true)
        #expect(decode(Self.told("schedule_persisted", #""ttl":1"#)).rejections.map(\.field) == [.scheduleId])
    }

    @Test("conditions and minutes take no room in an event, and records without them read as before")
    func sizesAndOldRecords() throws {
        #expect(MemoryLayout<Event>.stride == 208)
        var event = Event(kind: .prefetchSuccess, timestamp: received)
        event.ttl = 5
        var batch = EventBatch()
        batch.append(event, texts: [UInt8]().span)
        #expect(batch.bytes.count == 14)
        event.network = .wifi
        event.minutes = -1
        batch.append(event, texts: [UInt8]().span)
        var cursor = EventCursor()
        var read = Event(kind: .pluginStarted, timestamp: received)
        read.lowPowerMode = true
        #expect(try cursor.next(into: &read, in: batch.bytes.span))
        #expect(read.lowPowerMode == nil && read.network == nil && read.minutes == nil && read.ttl == 5)
        #expect(try cursor.next(into: &read, in: batch.bytes.span))
        #expect(read.network == .wifi && read.minutes == -1)
        read.network = nil
        #expect(read.network == nil && !read.presence.contains(.conditions))
    }
}
