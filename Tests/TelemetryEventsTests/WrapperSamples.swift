// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

/// A line in one wrapper and its expected content.
struct WrapperSample: CustomTestStringConvertible, Sendable {
    var wrapper: LogWrapper
    var line: String
    var expected: String

    init(_ wrapper: LogWrapper, _ line: String, _ expected: String) {
        self.wrapper = wrapper
        self.line = line
        self.expected = expected
    }

    var testDescription: String { "\(wrapper.rawValue): \(line)" }

    static let all = bare + stamped + apple + logcat + syslog + journal + json
}

extension WrapperSample {
    static let bare = [
        WrapperSample(.bare, "[DNP-FETCH] Starting fetch", "fetch - - 0 Starting fetch"),
        WrapperSample(.bare, "[DNP-SCHEDULER] text", "scheduler - - 0 text"),
        WrapperSample(.bare, "[DNP-PLUGIN]text", "plugin - - 0 text"),
        WrapperSample(.bare, "[DNP-STORAGE]: text", "storage - - 0 text"),
        WrapperSample(.bare, "[dnp-Fetch] text", "fetch - - 0 text"),
        WrapperSample(.bare, "[DNP-FETCH]", "fetch - - 0 "),
        WrapperSample(.bare, "[DNP-OTHER] text", "unknown - - 0 text"),
        WrapperSample(.bare, "DNP-FETCH: text", "fetch - - 0 text"),
        WrapperSample(.bare, "DNP-STORAGE: [DNP-FETCH] text", "storage - - 0 [DNP-FETCH] text"),
        WrapperSample(.bare, "[DNP-PLUGIN] [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.bare, "[BackgroundRefresh] [BackgroundRefresh] text", "backgroundRefresh - - 0 text"),
        WrapperSample(.bare, "[DNP-FETCH] [DNP-OTHER] text", "fetch - - 0 [DNP-OTHER] text"),
        WrapperSample(.bare, "DNP-FETCH:", "fetch - - 0 "),
        WrapperSample(.bare, "DNP-DEBUG: text", "debug - - 0 text"),
        WrapperSample(.bare, "DNP-NEWS: text", "unknown - - 0 text"),
        WrapperSample(.bare, "dnp-telemetry: text", "foreign"),
        WrapperSample(.bare, "DNP-fetch: text", "foreign"),
        WrapperSample(.bare, "DNP-FETCH:- text", "foreign"),
        WrapperSample(.bare, "DNP-123: a ticket", "foreign"),
        WrapperSample(.bare, "see DNP-FETCH: text", "foreign"),
        WrapperSample(.bare, "flutter: [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.bare, "12:00 | worker -[DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.bare, "⚡️  [log] - [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.bare, "see \"x\" [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.bare, "[DNP-FETCH|PLUGIN] or [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.bare, "say \"[DNP-FETCH] text\"", "foreign"),
        WrapperSample(.bare, "say \"see [DNP-FETCH] text\"", "foreign"),
        WrapperSample(.bare, "tag=[DNP-FETCH] text", "foreign"),
        WrapperSample(.bare, "grep ([DNP-FETCH])", "foreign"),
        WrapperSample(.bare, "[DNP-]", "foreign"),
        WrapperSample(.bare, "merged [DNP-123] a ticket", "foreign"),
        WrapperSample(.bare, "[DNP-FETCH|SCHEDULER] text", "foreign"),
        WrapperSample(.bare, "", "foreign"),
        WrapperSample(.bare, "nothing of ours", "foreign"),
    ]

    static let stamped = [
        WrapperSample(.stamped, "2025-11-15T05:48:00Z DNP-FETCH: a [1]", "fetch 2025-11-15T05:48:00+0 - 0 a [1]"),
        WrapperSample(.stamped, "2025-11-15T05:48:00Z [DNP-FETCH] text", "fetch 2025-11-15T05:48:00+0 - 0 text"),
        WrapperSample(
            .stamped,
            "2025-11-14 21:48:00.123456-0800 [DNP-FETCH] text",
            "fetch 2025-11-14T21:48:00.123456-28800 - 0 text"
        ),
        WrapperSample(
            .stamped,
            "2025-11-15 11:18:00,5 +05:30 [DNP-FETCH] text",
            "fetch 2025-11-15T11:18:00.500000+19800 - 0 text"
        ),
        WrapperSample(
            .stamped,
            "2025-11-15T05:48:00.123456789 [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00.123456 - 0 text"
        ),
        WrapperSample(
            .stamped,
            "[2025-11-15 05:48:00.1Z] INFO  [main] [DNP-PLUGIN] text",
            "plugin 2025-11-15T05:48:00.100000+0 - 0 text"
        ),
        WrapperSample(
            .stamped,
            "2025-11-15 05:48:00 INFO worker: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00 - 0 text"
        ),
        WrapperSample(
            .stamped,
            "2025-11-15 05:48:00 UTC [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00+0 - 0 text"
        ),
        WrapperSample(
            .stamped,
            "2025-11-15 05:48:00 - [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00 - 0 text"
        ),
        WrapperSample(.stamped, "2024-02-29T23:59:60+01 [DNP-FETCH] a", "fetch 2024-03-01T00:00:00+3600 - 0 a"),
        WrapperSample(.stamped, "2025-11-15T05:48:00Z [DNP-NEW] text", "unknown 2025-11-15T05:48:00+0 - 0 text"),
        WrapperSample(.stamped, "2025-02-30T05:48:00Z [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.stamped, "2025-11-15T24:48:00Z [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.stamped, "[DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.stamped, "2025-11-15T05:48:00Z something else", "foreign"),
        WrapperSample(.stamped, "2025-11-15T05:48:00Z filter=\"[DNP-FETCH] text\"", "foreign"),
    ]

    static let syslog = [
        WrapperSample(
            .rfc3164,
            "<13>Nov 15 05:48:00 host App[4242]: [DNP-FETCH] text",
            "fetch -11-15T05:48:00 host 4242 text"
        ),
        WrapperSample(.rfc3164, "Nov  5 05:48:00 host App: [DNP-FETCH] text", "fetch -11-05T05:48:00 host 0 text"),
        WrapperSample(.rfc3164, "<0>Nov 15 05:48:00 App[4242]: [DNP-FETCH] text", "fetch -11-15T05:48:00 - 4242 text"),
        WrapperSample(
            .rfc3164,
            "<13>Nov 15 2025 05:48:00 host App[4242]: INFO [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00 host 4242 text"
        ),
        WrapperSample(
            .rfc3164,
            "<13>2025-11-15T05:48:00.5+01:00 host App[4242]: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00.500000+3600 host 4242 text"
        ),
        WrapperSample(.rfc3164, "<13>Nov 15 05:48:00 host [DNP-FETCH] text", "fetch -11-15T05:48:00 host 0 text"),
        WrapperSample(.rfc3164, "<13>App: [DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(.rfc3164, "<13>Nov 15 05:48:00 host App 4242 - [DNP-FETCH] a", "fetch -11-15T05:48:00 host 0 a"),
        WrapperSample(
            .rfc3164,
            "Nov 15 05:48:00 host App[4242] [DNP-FETCH] text",
            "fetch -11-15T05:48:00 host 4242 text"
        ),
        WrapperSample(.rfc3164, "<13>Nov 15 05:48:00 host DNP-FETCH[42]: text", "fetch -11-15T05:48:00 host 42 text"),
        WrapperSample(.rfc3164, "<13>Nov 15 05:48:00 host DNP-FETCH: text", "fetch -11-15T05:48:00 host 0 text"),
        WrapperSample(.rfc3164, "<13>Nov 15 05:48:00 host dnp-telemetry[42]: text", "foreign"),
        WrapperSample(.rfc3164, "<13>Nov 15 05:48:00 host sshd[1]: text", "foreign"),
        WrapperSample(.rfc3164, "<192>Nov 15 05:48:00 host App[4242]: text", "foreign"),
        WrapperSample(
            .rfc5424,
            "<165>1 2025-11-15T05:48:00.003Z host app 4242 ID47 - [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00.003000+0 host 4242 text"
        ),
        WrapperSample(
            .rfc5424,
            #"<165>1 2025-11-15T05:48:00Z host app 4242 ID47 [a@1 b="x\"]\\" c="]"][d] [DNP-FETCH] text"#,
            "fetch 2025-11-15T05:48:00+0 host 4242 text"
        ),
        WrapperSample(.rfc5424, "<165>1 - - - - - - \u{FEFF}[DNP-FETCH] text", "fetch - - 0 text"),
        WrapperSample(
            .rfc5424,
            "103 <165>1 2025-11-15T05:48:00-08:00 host app main - - [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00-28800 host 0 text"
        ),
        WrapperSample(
            .rfc5424,
            "<165>1 2025-11-15T05:48:00Z host app 1 - [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00+0 host 1 text"
        ),
        WrapperSample(.rfc5424, "<165>1 2025-11-15T05:48:00Z host app 1 - - text", "foreign"),
        WrapperSample(
            .rfc5424,
            #"<165>1 2025-11-15T05:48:00Z host app 1 - [a b="] [DNP-FETCH] text"#,
            "foreign"
        ),
        WrapperSample(
            .rfc5424,
            "<165>1 2025-11-15T05:48:00Z host [DNP-FETCH] a b c",
            "fetch 2025-11-15T05:48:00+0 host 0 a b c"
        ),
    ]

    static let journal = [
        WrapperSample(
            .journalShortISO,
            "2025-11-15T05:48:00+0000 host app[4242]: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00+0 host 4242 text"
        ),
        WrapperSample(
            .journalShortISO,
            "2025-11-15T05:48:00.123456+01:00 host app[4242]: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00.123456+3600 host 4242 text"
        ),
        WrapperSample(
            .journalShortISO,
            "Nov 15 05:48:00.123456 host app[4242]: [DNP-FETCH] text",
            "fetch -11-15T05:48:00.123456 host 4242 text"
        ),
        WrapperSample(
            .journalShortISO,
            "Sat 2025-11-15 05:48:00 UTC host app[4242]: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00+0 host 4242 text"
        ),
        WrapperSample(
            .journalShortISO,
            "Sat 2025-11-15 05:48:00 CET host app[4242]: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00 host 4242 text"
        ),
        WrapperSample(
            .journalShortISO,
            "1763185680.250000 host app[4242]: [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00.250000+0 host 4242 text"
        ),
        WrapperSample(
            .journalShortISO,
            "2025-11-15T05:48:00+0000 host DNP-FETCH: text",
            "fetch 2025-11-15T05:48:00+0 host 0 text"
        ),
        WrapperSample(
            .journalShortISO,
            "2025-11-15T05:48:00.25+01:00 host app: DNP-FETCH: text",
            "fetch 2025-11-15T05:48:00.250000+3600 host 0 text"
        ),
        WrapperSample(.journalShortISO, "2025-11-15T05:48:00+0000 host dnp-telemetry: text", "foreign"),
        WrapperSample(.journalShortISO, "2025-11-15T05:48:00+0000 host systemd[1]: Started app.service.", "foreign"),
        WrapperSample(.journalShortISO, "-- Boot 0123456789abcdef --", "foreign"),
    ]

    static let json = [
        WrapperSample(
            .appleNDJSON,
            #"{"traceID":1,"eventMessage":"text (a=\"b\")","subsystem":"com.timesafari.dailynotification","#
                + #""category":"fetch","source":null,"timestamp":"2025-11-15 05:48:00.123456-0800","processID":4242}"#,
            "fetch 2025-11-15T05:48:00.123456-28800 - 4242 text (a=\"b\")"
        ),
        WrapperSample(
            .appleNDJSON,
            #"{ "processID" : 7, "backtrace":{"frames":[{"x":"}]"}]}, "category" : "ui", "subsystem":"x", "#
                + #""eventMessage" : "[DNP-PLUGIN] text" , "timestamp" : "2025-11-15 05:48:00.123456+0000" }"#,
            "plugin 2025-11-15T05:48:00.123456+0 - 7 text"
        ),
        WrapperSample(
            .appleNDJSON,
            #"{"category":"f\u0065tch","subsystem":"com.timesafari.dailynotification","#
                + #""eventMessage":"\u001b[32m\ud83d\ude00 a\/b \ud83d\n"}"#,
            "fetch - - 0 😀 a/b \u{FFFD}"
        ),
        WrapperSample(
            .appleNDJSON,
            #"{"eventMessage":"text","subsystem":"com.apple.net","category":"fetch"}"#,
            "foreign"
        ),
        WrapperSample(.appleNDJSON, #"{"count":1,"finished":1}"#, "foreign"),
        WrapperSample(
            .structlog,
            #"{"event": "[DNP-FETCH] text", "level": "info", "timestamp": "2025-11-15T05:48:00Z"}"#,
            "fetch 2025-11-15T05:48:00+0 - 0 text"
        ),
        WrapperSample(
            .structlog,
            #"{"event": "user logged in", "level": "info", "timestamp": "2025-11-15T05:48:00Z"}"#,
            "foreign"
        ),
        WrapperSample(.structlog, #"{"logger": "http", "event": "GET /n"}"#, "foreign"),
        WrapperSample(
            .structlog,
            #"{"timestamp":1763185680.25,"event":"DNP-PLUGIN: requestPermissions() \u2192 granted"}"#,
            "plugin 2025-11-15T05:48:00.250000+0 - 0 requestPermissions() → granted"
        ),
        WrapperSample(
            .journalJSON,
            #"{"MESSAGE":"[DNP-FETCH] text","__REALTIME_TIMESTAMP":"1763185680000001","_PID":"42","_HOSTNAME":"host"}"#,
            "fetch 2025-11-15T05:48:00.000001+0 host 42 text"
        ),
        WrapperSample(
            .journalJSON,
            #"{"_SOURCE_REALTIME_TIMESTAMP":"1763185680000000","__REALTIME_TIMESTAMP":"1763185680000001","#
                + #""SYSLOG_PID":"43","_HOSTNAME":"host","MESSAGE":[91,68,78,80,45,70,69,84,67,72,93,32,27,91,109,195,40]}"#,
            "fetch 2025-11-15T05:48:00+0 host 43 \u{FFFD}("
        ),
        WrapperSample(
            .journalJSON,
            #"{"MESSAGE":"{\"event\":\"prefetch_success\"}","_PID":"42","_HOSTNAME":"host"}"#,
            #"event - host 42 {"event":"prefetch_success"}"#
        ),
        WrapperSample(
            .journalJSON,
            #"{"MESSAGE":"{\"event\":\"[DNP-FETCH] text\",\"timestamp\":\"2025-11-15T05:48:00Z\"}","_PID":"42"}"#,
            "fetch 2025-11-15T05:48:00+0 - 42 text"
        ),
        WrapperSample(.journalJSON, #"{"MESSAGE":null,"__REALTIME_TIMESTAMP":"1763185680000001"}"#, "foreign"),
        WrapperSample(.journalJSON, #"{"MESSAGE":"{\"a\":1}","_PID":"42"}"#, "foreign"),
        WrapperSample(
            .events,
            #"{"event":"prefetch_success","id":"a"}"#,
            #"event - - 0 {"event":"prefetch_success","id":"a"}"#
        ),
        WrapperSample(.events, #"{"id":"a", "event" :"x"}"#, #"event - - 0 {"id":"a", "event" :"x"}"#),
    ]
}
