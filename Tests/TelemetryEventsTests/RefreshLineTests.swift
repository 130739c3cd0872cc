// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import TelemetryEvents

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
