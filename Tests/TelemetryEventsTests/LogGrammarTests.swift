// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TelemetryEvents

@Suite("Forms of the plugin's log lines")
struct LogGrammarTests {
    /// A line, and the members of its event except kind and time.
    static let lines: [(line: String, event: String)] = [
        (
            "[DNP-FETCH] Registering BGTaskScheduler task (id=com.timesafari.dailynotification.fetch)",
            #""prefetch_registered""#
        ),
        (
            "[DNP-FETCH] Registered BGTaskScheduler with id=com.timesafari.dailynotification.fetch",
            #""prefetch_registered""#
        ),
        ("[DNP-PLUGIN] Startup complete (hasPendingSchedules=true)", #""plugin_started","hasPendingSchedules":true"#),
        ("[DNP-PLUGIN] configure() called", #""plugin_started""#),
        ("[DNP-PLUGIN] status = ready", #""plugin_started""#),
        (
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2025-11-14T05:48:00Z)",
            #""prefetch_scheduled","earliestBeginDate":"2025-11-14T05:48:00Z""#
        ),
        (
            "[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=Optional(2025-11-14 05:48:00 +0000))",
            #""prefetch_scheduled","earliestBeginDate":"2025-11-14T05:48:00Z""#
        ),
        ("[DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=nil)", #""prefetch_scheduled""#),
        (
            "[DNP-FETCH] Prefetch scheduled 5 minutes before notification (notificationTime=2025-11-14T05:53:00Z)",
            #""prefetch_scheduled","scheduledFor":"2025-11-14T05:53:00Z","minutes":5"#
        ),
        (
            #"[DNP-FETCH] Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1 "(null)""#,
            #""prefetch_schedule_failed","error":"BGTaskSchedulerErrorDomain Code=1""#
        ),
        (
            "[DNP-FETCH] Failed to schedule BGAppRefreshTask: The operation couldn\u{2019}t be completed. (BGTaskSchedulerErrorDomain error 1.)",
            #""prefetch_schedule_failed","error":"BGTaskSchedulerErrorDomain Code=1""#
        ),
        ("[DNP-FETCH] Prefetch lead too small, capping at minimum (60s)", #""lead_capped""#),
        ("[DNP-FETCH] BGTask missed window; rescheduling", #""prefetch_missed""#),
        (
            "[DNP-FETCH] BGTask handler invoked (task.identifier=com.timesafari.dailynotification.fetch)",
            #""prefetch_executed""#
        ),
        ("[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)", #""prefetch_executed""#),
        (
            "[DNP-FETCH] Starting fetch (notificationTime=2025-11-14T05:53:00Z, scheduleId=notif-1)",
            #""prefetch_started","scheduleId":"notif-1","scheduledFor":"2025-11-14T05:53:00Z""#
        ),
        (
            #"[DNP-FETCH] Starting fetch (notificationTime=2025-11-14T05:53:00Z, scheduleId=Optional("notif-1"))"#,
            #""prefetch_started","scheduleId":"notif-1","scheduledFor":"2025-11-14T05:53:00Z""#
        ),
        (
            "[DNP-FETCH] Starting fetch (scheduleId=nil, notificationTime=Optional(2025-11-14T05:53:00Z))",
            #""prefetch_started","scheduledFor":"2025-11-14T05:53:00Z""#
        ),
        (
            "[DNP-FETCH] Starting fetch from https://api.example.test/n?id=7 (notificationTime=2025-11-14T05:53:00Z, jwtPresent=true)",
            #""prefetch_started","scheduledFor":"2025-11-14T05:53:00Z""#
        ),
        ("[DNP-FETCH] PrefetchOperation: starting fake fetch...", #""prefetch_started""#),
        (
            "[DNP-FETCH] Fetch success: status=200, items=1, ttl=86400",
            #""prefetch_success","ttl":86400,"status":200,"items":1"#
        ),
        (
            "[DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)",
            #""prefetch_success","ttl":86400,"status":200,"bytes":1234"#
        ),
        (
            "[DNP-FETCH] Fetch failed: error=NetworkError, willRetry=false",
            #""prefetch_failure","reason":"NETWORK","error":"NetworkError","willRetry":false"#
        ),
        ("[DNP-FETCH] Fetch failed: error=..., willRetry=false", #""prefetch_failure","willRetry":false"#),
        (
            "[DNP-FETCH] Fetch failed (error=NetworkError, httpStatus=0, willRetry=true)",
            #""prefetch_failure","status":0,"reason":"NETWORK","error":"NetworkError","willRetry":true"#
        ),
        (
            #"[DNP-FETCH] Fetch failed: error=Error Domain=NSURLErrorDomain Code=-1009 "offline, sorry" UserInfo={a=b, c=d}, httpStatus=0, willRetry=false"#,
            #""prefetch_failure","status":0,"reason":"NETWORK","error":"NSURLErrorDomain Code=-1009","willRetry":false"#
        ),
        (
            "[DNP-FETCH] Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
            #""prefetch_failure","status":401,"reason":"AUTH","error":"AuthError","willRetry":false"#
        ),
        (
            "[DNP-FETCH] Fetch failed: error=AuthError, httpStatus=503, willRetry=false",
            #""prefetch_failure","status":503,"reason":"AUTH","error":"AuthError","willRetry":false"#
        ),
        (
            "[DNP-FETCH] Fetch failed: error=NetworkError, httpStatus=401, willRetry=false",
            #""prefetch_failure","status":401,"reason":"AUTH","error":"NetworkError","willRetry":false"#
        ),
        (
            "[DNP-FETCH] Fetch failed: error=The operation couldn\u{2019}t be completed. (NSURLErrorDomain error -1009.), willRetry=false",
            #""prefetch_failure","reason":"NETWORK","error":"NSURLErrorDomain Code=-1009","willRetry":false"#
        ),
        (
            "[DNP-FETCH] Fetch failed: error=Odd, willRetry=false",
            #""prefetch_failure","error":"Odd","willRetry":false"#
        ),
        ("[DNP-FETCH] JWT expired, authentication failed", #""prefetch_failure","reason":"AUTH""#),
        ("[DNP-FETCH] Task expired", #""prefetch_expired","reason":"SYSTEM""#),
        ("[DNP-FETCH] Task completed (success=true)", #""prefetch_completed","fetched":true"#),
        (
            "[DNP-FETCH] Task completed (success=false, reason=NETWORK)",
            #""prefetch_completed","reason":"NETWORK","fetched":false"#
        ),
        ("[DNP-FETCH] Task completionBlock (success=false)", #""prefetch_completed","fetched":false"#),
        (
            "[DNP-FETCH] Task marked complete (success=false) due to error",
            #""prefetch_completed","reason":"SYSTEM","fetched":false"#
        ),
        ("[DNP-FETCH] Cached content for scheduleId=notif-1", #""content_cached","scheduleId":"notif-1""#),
        (
            "[DNP-FETCH] Cached content MD5: D41D8CD98F00B204E9800998ECF8427E",
            #""content_cached","contentHash":"d41d8cd98f00b204e9800998ecf8427e""#
        ),
        ("[DNP-STORAGE] Cache write failed: error=SQLITE_FULL", #""content_cache_failed","error":"SQLITE_FULL""#),
        ("[DNP-FETCH] Storage unavailable, will fetch on-demand", #""content_cache_failed","usedCached":false"#),
        (
            "[DNP-FETCH] Found cached content (age=180s, source=prefetch)",
            #""prefetch_used_for_notification","age":180"#
        ),
        (
            "[DNP-FETCH] Using cached content MD5: d41d8cd98f00b204e9800998ecf8427e",
            #""prefetch_used_for_notification","contentHash":"d41d8cd98f00b204e9800998ecf8427e""#
        ),
        (
            "[DNP-FETCH] Using cached content for notification at 2025-11-14T05:53:00Z",
            #""prefetch_used_for_notification","scheduledFor":"2025-11-14T05:53:00Z""#
        ),
        ("[DNP-FETCH] No cached content, falling back to on-demand fetch", #""content_missing""#),
        ("[DNP-FETCH] No cached content available, falling back to on-demand fetch", #""content_missing""#),
        (
            "[DNP-SCHEDULER] Scheduling notification for 2025-11-14T05:53:00Z",
            #""notification_scheduled","scheduledFor":"2025-11-14T05:53:00Z""#
        ),
        (
            "[DNP-SCHEDULER] Notification delivered (id=notif-1, title=Your daily, id=evil)",
            #""notification_delivered","scheduleId":"notif-1""#
        ),
        ("[DNP-SCHEDULER] Notification scheduled/delivered", #""notification_delivered""#),
        ("[DNP-SCHEDULER] notification drift > 180s", #""notification_drift""#),
        ("[DNP-SCHEDULER] Timezone changed, but UTC schedule unchanged", #""timezone_changed""#),
        ("[DNP-PLUGIN] notifications_denied for scheduleDailyNotification", #""notification_denied""#),
        ("[DNP-PLUGIN] requestPermissions() → granted", #""permission_granted""#),
        ("[DNP-PLUGIN] requestPermissions() -> granted", #""permission_granted""#),
        ("[DNP-PLUGIN] requestPermissions() → denied", #""notification_denied""#),
        (
            "[DNP-FETCH] API call: GET /api/notifications (ETag=(null))",
            #""api_call","conditional":false,"authenticated":false"#
        ),
        ("[DNP-PLUGIN] requestPermissions() -> denied", #""notification_denied""#),
        (
            "[DNP-PLUGIN] Prefetch cycle complete (id=XYZ, fetched=true, usedCached=true)",
            #""prefetch_cycle_complete","scheduleId":"XYZ","fetched":true,"usedCached":true"#
        ),
        (
            "[DNP-FETCH] Telemetry snapshot: DNP-prefetch_scheduled_total=3, dnp_prefetch_success_total: 2",
            #""telemetry_snapshot","telemetry":{"dnp_prefetch_scheduled_total":3,"dnp_prefetch_success_total":2}"#
        ),
    ]

    @Test("a list of a call that was cut does not say what was missing, and a warp without its unit nothing")
    func cutDetails() throws {
        let call = "[DNP-FETCH] API call: GET /api/notifications (JWT present, "
        for end in ["", "E", "ETa", "some"] {
            let event = try #require(try LogReading("2025-11-14T05:50:00Z \(call)\(end)\n").events.first)
            #expect(!event.contains("conditional") && event.contains(#""authenticated":true"#))
        }
        let cut = try #require(try LogReading("2025-11-14T05:50:00Z \(call)ETag=\"a\n").events.first)
        #expect(cut.contains(#""conditional":true"#))
        for end in ["", "+", "+6", "+60", "+60 min"] {
            let event = try LogReading("2025-11-14T05:50:00Z [DNP-FETCH] Time warp simulated: \(end)\n").events.first
            #expect(event.map { !$0.contains("minutes") } ?? true)
        }
    }

    @Test("every form of log line yields its event", arguments: lines.indices)
    func everyFormYieldsItsEvent(index: Int) throws {
        let (line, expected) = Self.lines[index]
        let reading = try LogReading("2025-11-14T05:50:00Z \(line)\n")
        #expect(reading.lines.recognised == 1)
        #expect(reading.events.count == 1)
        let event = try #require(reading.events.first)
            .replacing(#""timestamp":"2025-11-14T05:50:00Z""#, with: "")
            .replacing(#","scheduleId":"unnamed-2025-11-14T05:50:00Z""#, with: "")
            .replacing(",,", with: ",").replacing(",}", with: "}")
        #expect(event == #"{"event":\#(expected)}"#, "\(line)")
    }

    @Test(
        "a failure's reason comes from the reason, then the status, then the error, then other words",
        arguments: [
            ("Fetch failed (reason=bad_token, httpStatus=401, willRetry=false)", "AUTH"),
            ("Fetch failed (error=X, reason=http_error, httpStatus=503)", "NETWORK"),
            ("Fetch failed (error=java.net.SocketTimeoutException: timeout, willRetry=false)", "NETWORK"),
            ("Fetch failed: error=java.net.UnknownHostException: Unable to resolve host, willRetry=false", "NETWORK"),
            ("Fetch failed (error=NetworkError httpStatus=401 willRetry=false)", "AUTH"),
            ("Fetch failed (error=AuthError, reason=SYSTEM)", "SYSTEM"),
            ("Fetch failed: reason=nothing known", "OTHER"),
            ("Fetch failed: error=NSException in handler", "SYSTEM"),
            ("Task completed success=false reason=NETWORK", "NETWORK"),
        ]
    )
    func reasonPrecedenceInLogLines(line: String, reason: String) throws {
        let reading = try LogReading("2025-11-14T05:50:00Z [DNP-FETCH] \(line)")
        #expect(LogReading.value(of: "reason", in: reading.events.first ?? "") == reason)
    }

    @Test(
        "an opening only matches up to the end of a word",
        arguments: ["Fetch successful retry", "Task completedness", "BGTask missed windows"]
    )
    func openingEndsAtAWord(line: String) throws {
        #expect(try LogReading("[DNP-FETCH] \(line)").lines.unrecognised == 1)
    }

    @Test("fields after a notification time are read")
    func fieldsAfterNotificationTime() throws {
        let reading = try LogReading(
            "[DNP-FETCH] Using cached content for notification at 2025-11-14T05:53:00Z (age=90000s, source=prefetch)"
        )
        #expect(reading.events.first?.contains(#""age":90000"#) == true)
        let elsewhere = "[DNP-FETCH] Using cached content for notification at 2025-11-14T05:53:00Z (source=fallback)"
        #expect(try LogReading(elsewhere).events.isEmpty)
    }

    @Test("an unrecognised line is shown by its first words only, since the rest may be user input")
    func unrecognisedLineShowsFirstWords() throws {
        let reading = try LogReading("[DNP-SCHEDULER] Notification queued (id=a, title=Secret, body=Secret)")
        #expect(reading.unrecognised.first?.text == "Notification queued ...")
    }

    @Test(
        "a line that mentions the plugin in prose is foreign",
        arguments: [
            "2025-11-15T05:50:00Z note to self: I saw [DNP-FETCH] Fetch success (status=200)",
            "<14>Nov 15 05:50:00 host root searched for [DNP-FETCH] Fetch success",
        ]
    )
    func proseIsForeign(line: String) throws {
        #expect(try LogReading(line).lines.foreign == 1)
    }

    @Test(
        "context lines yield no event",
        arguments: [
            "[DNP-FETCH] Scheduling prefetch for notification at 2025-11-14T05:53:00Z",
            "[DNP-FETCH] Scheduling BGAppRefreshTask (earliestBeginDate=2025-11-14T05:48:00Z)",
            "[DNP-SCHEDULER] scheduleDailyNotification() → notificationTime=2025-11-15T05:53:00Z",
            "[DNP-PLUGIN] requestPermissions() called",
            "[DNP-STORAGE] Persisted schedule to DB (id=..., type=DAILY, ...)",
            "DNP-DEBUG: AppDelegate.application(_:didFinishLaunchingWithOptions:) called",
            "[DNP-FETCH] Resolved next notification needing content (time=2025-11-14T05:53:00Z, scheduleId=a)",
            "[DNP-FETCH] Found cached content (age=3s, source=ondemand)",
            "[DNP-SCHEDULER] Preparing content for notification at 2025-11-14T05:53:00Z",
            "[DNP-SCHEDULER] Notification built (title=a, body=b, id=c, id=d)",
            "[DNP-FETCH] PrefetchOperation: finished fake fetch.",
        ]
    )
    func contextLinesYieldNoEvent(line: String) throws {
        let reading = try LogReading(line)
        #expect(reading.lines.recognised == 1)
        #expect(reading.events.isEmpty)
    }

    @Test("the plugin's lines of unknown forms are kept with their number and a reason")
    func unknownFormsAreKept() throws {
        let reading = try LogReading("some line\n\n[DNP-FETCH] Something new\n[DNP-NEWS] Fetch success\n[DNP-FETCH]\n")
        #expect(reading.lines.read == 5)
        #expect(reading.lines.foreign == 2)
        #expect(reading.lines.unrecognised == 3)
        #expect(reading.unrecognised.map(\.number) == [3, 4, 5])
        #expect(reading.unrecognised.first?.text == "Something new")
        #expect(reading.unrecognised.allSatisfy { !$0.problem.isEmpty })
    }

    @Test("user input in a title cannot name another schedule")
    func titleCannotNameASchedule() throws {
        let reading = try LogReading(
            """
            2025-11-14T05:53:00Z [DNP-SCHEDULER] Preparing content for notification at 2025-11-14T05:53:00Z
            2025-11-14T05:53:00Z [DNP-SCHEDULER] Notification built (title=x, body=id=evil, scheduleId=worse, id=good)
            2025-11-14T05:53:00Z [DNP-SCHEDULER] Notification delivered (id=good, title=a (id=evil), id=evil)
            """
        )
        #expect(reading.bound == ["notification_delivered good 2025-11-14T05:53:00Z"])
    }

    @Test("a log line truncated anywhere does not stop decoding")
    func truncatedLineDoesNotStopDecoding() throws {
        for (line, _) in Self.lines {
            let bytes = Array(line.utf8)
            for end in bytes.indices {
                let reading = try LogReading([Array(bytes[..<end])])
                #expect(reading.lines.read == (end == 0 ? 0 : 1))
            }
        }
    }
}

@Suite("The documented log lines match the decoder")
struct DocumentedLogLinesTests {
    let rows: [String]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = root.appending(path: "Sources/TelemetryEvents/TelemetryEvents.docc/LogLines.md")
        rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n").map { String($0) }
            .filter { $0.hasPrefix("| `") }
    }

    @Test("the documented log forms match the rules")
    func documentedFormsMatchTheRules() {
        let forms = LogGrammar.rules.map(\.row)
        #expect(rows.filter { $0.count(of: "|") == 5 } == forms, "the table is:\n\(forms.joined(separator: "\n"))")
    }

    @Test("the documented wrappers match the command line's names")
    func documentedWrappersMatchTheNames() {
        let words = rows.filter { $0.count(of: "|") == 3 }.map { $0.split(separator: "`")[1] }
        #expect(words.map { String($0) } == LogWrapper.allCases.map(\.rawValue))
    }

    @Test("the documented keys match the accepted names")
    func documentedKeysMatchTheNames() {
        let keys = LogField.allCases.map { field in "| \(field.names.map { "`\($0)`" }.joined(separator: ", ")) |" }
        #expect(rows.filter { $0.count(of: "|") == 2 } == keys, "the table is:\n\(keys.joined(separator: "\n"))")
    }
}

extension LogRule {
    fileprivate var row: String {
        let meaning =
            switch form.meaning {
            case .event(let kind): "`\(kind.name)`"
            case .cycle: "identifies its cycle"
            case .nothing: "no effect"
            }
        let rest =
            switch form.remainder {
            case .nothing: ""
            case .fields: form.idNamesTask ? "keys; `id` is the task's" : "keys"
            case .notificationTime: "the notification time, or keys"
            case .error: "an error"
            case .counters: "counters"
            case .minutes: "minutes"
            case .leadMinutes: "minutes, then keys"
            case .call: "whether a token and an ETag were sent"
            case .code: "the opening is the code; keys"
            case .refusal: "an error, or none"
            case .refresh: "words"
            }
        let reason = form.reason.map { " with reason \($0.name)" } ?? ""
        return "| `\(opening)` | \(meaning)\(reason) | \(form.phase) | \(rest) |"
    }
}

extension String {
    fileprivate func count(of character: Character) -> Int { filter { $0 == character }.count }
}
