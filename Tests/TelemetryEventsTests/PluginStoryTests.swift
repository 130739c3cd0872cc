// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TelemetryEvents

/// Lines of the plugin, each with the second in which it was written.
struct PluginStory: CustomTestStringConvertible, Sendable {
    var name: String
    var lines: [(second: Int, line: String)]
    /// The kinds of its events, without those that every cycle has.
    var telling: [String]

    var testDescription: String { name }

    static let scheduled = [
        (19_000, "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-14T05:53:00Z"),
        (19_000, "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:00Z)"),
        (19_000, "[DNP-SCHEDULER] Scheduling notification for 2025-11-14T05:53:00Z"),
    ]
    static let persisted = [
        (19_001, "[DNP-STORAGE] Persisted schedule to DB (id=n-1, type=DAILY, time=2025-11-14T05:53:00Z)")
    ]
    static let executed = [
        (20_900, "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"),
        (20_901, "[DNP-FETCH] Starting fetch from <URL> (notificationTime=2025-11-14T05:53:00Z, jwtPresent=true)"),
        (20_902, "[DNP-FETCH] API call: GET /api/notifications (JWT present, ETag=\"abc\")"),
    ]
    static let ended = [
        (20_903, "[DNP-FETCH] Fetch success (status=304, bytes=0, ttl=86400)"),
        (20_904, "[DNP-FETCH] Task completed (success=true)"),
    ]

    static let all = [
        PluginStory(
            name: "out of order",
            lines: scheduled + persisted + ended + executed.map { ($0.0 + 30, $0.1) },
            telling: ["api_call", "schedule_persisted"]
        ),
        PluginStory(
            name: "warped",
            lines: scheduled + persisted + [(19_100, "[DNP-FETCH] Time warp simulated: +60 minutes")] + executed
                + ended,
            telling: ["api_call", "schedule_persisted", "time_warped"]
        ),
        PluginStory(
            name: "cancelled",
            lines: scheduled + persisted
                + [(19_100, "[DNP-FETCH] Force rescheduling all tasks and notifications")]
                + scheduled.map { (19_200, $0.1) } + executed + ended,
            telling: ["api_call", "prefetch_cancelled", "schedule_persisted"]
        ),
        PluginStory(name: "not persisted", lines: scheduled + executed + ended, telling: ["api_call"]),
        PluginStory(
            name: "persisted without an id",
            lines: scheduled + [(19_001, "[DNP-STORAGE] Persisted schedule to DB (id=..., type=DAILY, ...)")] + executed
                + ended,
            telling: ["api_call", "schedule_persisted"]
        ),
        PluginStory(
            name: "launched after a reboot",
            lines: scheduled + persisted
                + [
                    (19_500, "[DNP-PLUGIN] Startup complete (hasPendingSchedules=true, inProgress=false)"),
                    (19_501, "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:30Z)"),
                ] + executed + ended,
            telling: ["api_call", "plugin_started", "schedule_persisted"]
        ),
        PluginStory(
            name: "missed and rescheduled",
            lines: scheduled + persisted
                + [
                    (22_000, "[DNP-PLUGIN] Startup complete (hasPendingSchedules=true)"),
                    (22_000, "[DNP-FETCH] BGTask missed window; rescheduling"),
                    (22_001, "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T06:07:41Z)"),
                ],
            telling: ["plugin_started", "prefetch_missed", "schedule_persisted"]
        ),
        PluginStory(
            name: "error codes",
            lines: [
                (18_000, "[DNP-PLUGIN] invalid_time_format for scheduleDailyNotification"),
                (18_001, "[DNP-PLUGIN] quota_exceeded"),
                (18_100, "[DNP-FETCH] Background fetch scheduling failed (expected on simulator)"),
                (
                    18_101,
                    "[DNP-FETCH] Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1"
                ),
            ] + scheduled,
            telling: ["plugin_error", "plugin_error", "prefetch_schedule_failed"]
        ),
    ]
}

@Suite("The plugin's newer stories in every wrapper")
struct PluginStoryTests {
    private static let usual: Set = [
        "prefetch_scheduled", "notification_scheduled", "prefetch_executed", "prefetch_started", "prefetch_success",
        "prefetch_completed",
    ]

    private static func reading(_ story: PluginStory, _ wrapped: WrappedLine) throws -> LogReading {
        let lines = story.lines.map { second, line in
            let literal = GuideLiteral("", line, nil)
            return wrapped.line(literal.component, literal.message, second)
        }
        return try LogReading(lines.joined(separator: "\n") + "\n", LogDecoderOptions(wrapper: wrapped.wrapper))
    }

    private static func withoutWrapper(_ events: [String]) throws -> [NSDictionary] {
        try events.map { event in
            var object = try #require(try JSONSerialization.jsonObject(with: Data(event.utf8)) as? [String: Any])
            for name in ["platform", "installation"] { object[name] = nil }
            return object as NSDictionary
        }
    }

    @Test("a story tells the same in every wrapper", arguments: PluginStory.all)
    func storyInEveryWrapper(story: PluginStory) throws {
        let stamped = try #require(WrappedLine.all.first { $0.wrapper == .stamped })
        let expected = try Self.withoutWrapper(try Self.reading(story, stamped).events)
        let kinds = expected.compactMap { $0["event"] as? String }
        #expect(kinds.filter { !Self.usual.contains($0) }.sorted() == story.telling)
        for wrapped in WrappedLine.all {
            // Without a marker, nothing says that a word is a code of the plugin.
            if wrapped.name == "logcat raw without a marker", story.name == "error codes" { continue }
            let reading = try Self.reading(story, wrapped)
            #expect(reading.lines.recognised == UInt64(story.lines.count), "\(wrapped.name)")
            let found = try Self.withoutWrapper(reading.events)
            if wrapped.hasTime {
                #expect(found == expected, "\(wrapped.name)")
            } else {
                #expect(found.compactMap { $0["event"] as? String }.sorted() == kinds.sorted(), "\(wrapped.name)")
            }
        }
    }

    @Test("the events of a story all name its schedule, whatever names none beside them", arguments: PluginStory.all)
    func neighboursKeepTheirCycle(story: PluginStory) throws {
        guard story.lines.contains(where: { $0.line.contains("id=n-1") }) else { return }
        let stamped = try #require(WrappedLine.all.first { $0.wrapper == .stamped })
        let ofCycle = try Self.reading(story, stamped).events.filter { event in
            let kind = LogReading.value(of: "event", in: event) ?? ""
            return Self.usual.contains(kind) || ["schedule_persisted", "api_call", "prefetch_missed"].contains(kind)
        }
        for event in ofCycle { #expect(LogReading.value(of: "scheduleId", in: event) == "n-1", "\(event)") }
    }

    @Test("a refusal that is told by two lines within five seconds counts once, in either order")
    func refusalIsToldTwice() throws {
        let hint = "[DNP-FETCH] Background fetch scheduling failed (expected on simulator)"
        let error = "[DNP-FETCH] Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1"
        func count(_ lines: [(Int, String)]) throws -> Int {
            let story = PluginStory(name: "", lines: lines, telling: [])
            let stamped = try #require(WrappedLine.all.first { $0.wrapper == .stamped })
            return try Self.reading(story, stamped).events.count
        }
        #expect(try count([(100, hint), (105, error)]) == 1)
        #expect(try count([(100, error), (105, hint)]) == 1)
        #expect(try count([(100, hint), (106, error)]) == 2)
        #expect(try count([(100, error), (106, hint)]) == 2)
        #expect(try count([(100, error), (100, hint), (300, error), (301, hint)]) == 2)
        #expect(try count([(100, hint), (101, error), (300, hint), (301, error)]) == 2)
        #expect(try count([(100, error), (102, error)]) == 2)
    }

    @Test("a refusal, its conditions and a warp go on over a restart of a followed file", arguments: 0...4)
    func storiesOverARestart(split: Int) throws {
        let lines = [
            "2025-11-14T05:40:00Z [DNP-FETCH] Time warp simulated: +60 minutes",
            "2025-11-14T05:40:01Z [DNP-FETCH] BGTask handler invoked (id=x, lowPowerMode=true)",
            "2025-11-14T05:40:02Z [DNP-FETCH] Failed to schedule BGAppRefreshTask: Error Domain=D Code=1",
            "2025-11-14T05:40:03Z [DNP-FETCH] Background fetch scheduling failed (expected on simulator)",
        ]
        func bytes(_ part: ArraySlice<String>) -> [UInt8] { Array(part.map { $0 + "\n" }.joined().utf8) }
        let options = LogDecoderOptions(isLive: true)
        var whole = logDecoder(options)
        var expected = whole.decode(bytes(lines[...]).span, readAt: readingTime)
        expected.append(whole.flush(readAt: readingTime))
        var first = logDecoder(options)
        var found = first.decode(bytes(lines[..<split]).span, readAt: readingTime)
        var second = try LogDecoder(
            restoring: first.state,
            options,
            pseudonyms: PlainPseudonyms(),
            identityKey: IdentityKey(1, 2)
        )
        #expect(second.state == first.state)
        found.append(second.decode(bytes(lines[split...]).span, readAt: readingTime))
        found.append(second.flush(readAt: readingTime))
        #expect(try canonical(found) == canonical(expected))
        #expect(try canonical(found).count == 3)
        #expect(try canonical(found).contains { $0.contains(#""lowPowerMode":true"#) })
    }

    @Test("a state of the versions before seen times and before conditions is read, and goes on", arguments: [4, 5])
    func stateOfVersionsBefore(version: UInt8) throws {
        let lines = [
            "2025-11-14T05:40:01Z [DNP-FETCH] BGTask handler invoked (id=x)\n",
            "2025-11-14T05:40:02Z [DNP-FETCH] Starting fetch (scheduleId=n-1)\n",
        ]
        let options = LogDecoderOptions(isLive: true)
        var before = logDecoder(options)
        _ = before.decode(Array(lines[0].utf8).span, readAt: readingTime)
        var state = before.state
        // Of its cycle: neither planned times nor, in those versions, when it was seen.
        var seen: [UInt8] = [1]
        seen.appendVarint(zigzag: 1_763_098_801_000_000)
        let planned = try #require(state.indices.first { state[$0...].starts(with: [0, 0] + seen) })
        state.replaceSubrange((planned + 2)..<(planned + 2 + seen.count), with: [0])
        let unseen = Self.signed(state)
        state.remove(at: planned + 2)
        if version < 5 { try removeConditions(of: &state) }
        state[0] = version
        var after = try LogDecoder(
            restoring: Self.signed(state),
            options,
            pseudonyms: PlainPseudonyms(),
            identityKey: IdentityKey(1, 2)
        )
        #expect(after.state == unseen)
        let decoded = after.decode(Array(lines[1].utf8).span, readAt: readingTime)
        #expect(
            try canonical(decoded).map { LogReading.short($0) } == [
                "prefetch_executed n-1 -", "prefetch_started n-1 -",
            ]
        )
    }

    private func removeConditions(of state: inout [UInt8]) throws {
        // The message that is held: no conditions, no minutes and no platform behind its four texts.
        let zeros = [UInt8](repeating: 0, count: 20)
        let plain = try #require(state.indices.last { state[$0...].starts(with: zeros) })
        state.removeSubrange(plain..<plain + 3)
        // At the end of its stream: no refusal to schedule.
        state.removeSubrange(state.count - 12..<state.count - 10)
    }

    /// A state with the hash that fits to it.
    private static func signed(_ state: [UInt8]) -> [UInt8] {
        let end = state.count - 8
        var signed = Array(state[..<end])
        signed.appendLittleEndian(IdentityKey(1, 2).text(state.span, 0..<end))
        return signed
    }

    @Test("invalid bytes in front of a line hide neither its stamp nor its marker")
    func invalidBytesInFront() throws {
        for garbage: [UInt8] in [
            [0xFF, 0xFE], [0x80, 0xBF, 0x20], [0xC3], [0xE2, 0x82], [0xEF, 0xBF, 0xBD], [0xF5, 0],
        ] {
            for line in [
                "[DNP-FETCH] Task expired", "DNP-FETCH: Task expired", "2025-11-14T05:50:00Z [DNP-FETCH] Task expired",
            ] {
                let reading = try LogReading([garbage + Array(line.utf8)])
                #expect(reading.lines.recognised == 1, "\(garbage) \(line)")
                if line.hasPrefix("2025") { #expect(reading.events.first?.contains("05:50:00Z") == true) }
            }
        }
    }

    @Test("the array of Apple's log is read on one line, on many, and in pieces", arguments: [1, 7, 100, 10_000])
    func appleArray(piece: Int) throws {
        let pretty = """
            [{
              "traceID" : 1,
              "eventMessage" : "DNP-FETCH: Task \\"[{",
              "backtrace" : { "frames" : [ { "imageOffset" : 1 } ] }
            },{
              "traceID" : 2,
              "eventMessage" : "[DNP-FETCH] Task expired",
              "processID" : 7,
              "timestamp" : "2025-11-14 05:50:00.000000+0000"
            }]
            [DNP-PLUGIN] status = ready

            """
        var chunks: [[UInt8]] = []
        var chunk: [UInt8] = []
        for (index, line) in pretty.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            chunk += Array((line + "\n").utf8)
            if index % piece == piece - 1 || piece == 1 {
                chunks.append(chunk)
                chunk = []
            }
        }
        chunks.append(chunk)
        // The first chunk holds enough to tell what the log is.
        while chunks.count > 1, chunks[0].count < 20 { chunks[0] += chunks.remove(at: 1) }
        let reading = try LogReading(chunks)
        let kinds = reading.events.compactMap { LogReading.value(of: "event", in: $0) }
        #expect(kinds.sorted() == ["plugin_started", "prefetch_expired"])
        #expect(reading.unrecognised.map(\.number) == [1])
        let compact = pretty.split(separator: "\n").dropLast().joined()
        #expect(try LogReading(compact).events.first?.contains("2025-11-14T05:50:00Z") == true)
    }
}
