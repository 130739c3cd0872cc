// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("A story comes out the same whatever it is wrapped in")
struct WrappedScenariosTests {
    @Test("every scenario comes out the same in every wrapper", arguments: Scenario.all, Wrapping.all)
    func wrapped(scenario: Scenario, wrapping: Wrapping) {
        let log = WrittenLog.plain.bytes(of: scenario.lines.map(wrapping.wrap))
        #expect(Story(of: log) == Story(expected: scenario, hasTime: wrapping.hasTime))
    }

    @Test(
        "the happy path comes out the same in every wrapper, whatever happened to the file",
        arguments: Wrapping.all,
        WrittenLog.allCases
    )
    func wrappedScenariosWritten(wrapping: Wrapping, written: WrittenLog) throws {
        guard wrapping.isOneLine || written != .amongOthers else { return }
        let scenario = try #require(Scenario.all.first)
        let log = written.bytes(of: scenario.lines.map(wrapping.wrap))
        #expect(Story(of: log) == Story(expected: scenario, hasTime: wrapping.hasTime))
    }
}

/// What a log told.
private struct Story: Equatable {
    var outcomes: [CycleOutcome]
    var violations: Set<ViolationKind>
    var counts: [UInt64]

    init(expected scenario: Scenario, hasTime: Bool) {
        outcomes = scenario.outcomes
        violations = Set(scenario.violations + (hasTime ? scenario.timedViolations : []))
        let failures = FailureReason.allCases.map { reason in scenario.failures.count { $0 == reason } }
        counts = ([scenario.scheduled, scenario.executed, scenario.success, scenario.used] + failures).map {
            UInt64($0)
        }
    }

    init(of log: [UInt8]) {
        let key = IdentityKey(1, 2)
        let readAt = Timestamp(seconds: PluginLine.start.microseconds / 1_000_000 + 30 * 86_400)
        var decoder = LogDecoder(LogDecoderOptions(), pseudonyms: EphemeralPseudonyms(), identityKey: key)
        var fold = LifecycleFold(key: key, keepsClosedCycles: true, deduplicates: false)
        let first = decoder.decode(log.span, readAt: readAt)
        let last = decoder.flush(readAt: readAt)
        for decoded in [first, last] { try? fold.apply(decoded.events.bytes.span, receivedAt: readAt) }
        fold.finish()
        let cycles = fold.takeClosedCycles()
        outcomes = cycles.map(\.outcome)
        violations = Set(cycles.flatMap { $0.violations.map(\.kind) })
        let totals = fold.totals
        counts =
            [totals.scheduled, totals.executed, totals.success, totals.used]
            + FailureReason.allCases.map { totals.failure($0) }
    }
}

/// A wrapper as the program that writes it does.
struct Wrapping: CustomTestStringConvertible, Sendable {
    var name: String
    var hasTime = true
    /// Whether a message stands on lines of its own, which others must not cut apart.
    var isOneLine = true
    var wrap: @Sendable (PluginLine) -> String

    var testDescription: String { name }

    static let all: [Wrapping] = [
        Wrapping(name: "bare", hasTime: false) { "\($0.marked)" },
        Wrapping(name: "stamped") { "\($0.time) \($0.marked)" },
        Wrapping(name: "stamped with a space and an offset") {
            "\($0.date("yyyy-MM-dd HH:mm:ss.SSS", hours: -8))000-0800 \($0.marked)"
        },
        Wrapping(name: "oslog default") {
            "\($0.apple)+0000 0x1f2e     Default     0x0                  4242   0    App: (Plugin) \($0.category) \($0.message)"
        },
        Wrapping(name: "oslog compact") {
            "\($0.date("yyyy-MM-dd HH:mm:ss.SSS")) Df App[4242:1f2e] \($0.category) \($0.message)"
        },
        Wrapping(name: "oslog syslog") {
            "\($0.apple)+0000  localhost App[4242]: (Plugin) \($0.category) \($0.message)"
        },
        Wrapping(name: "oslog ndjson") {
            json([
                "eventMessage": $0.message, "subsystem": $0.subsystem, "category": $0.name,
                "timestamp": $0.apple + "+0000", "processID": 4_242, "traceID": 1,
            ])
        },
        Wrapping(name: "oslog ndjson of a print") {
            json(["eventMessage": $0.marked, "subsystem": "", "timestamp": $0.apple + "+0000", "processID": 4_242])
        },
        Wrapping(name: "idevicesyslog") {
            "\($0.date("MMM dd HH:mm:ss")) Someones-iPhone App(Plugin)[4242] <Notice>: \($0.marked)"
        },
        Wrapping(name: "Xcode") { "\($0.apple)+0000 App[4242:123456] \($0.marked)" },
        Wrapping(name: "logcat threadtime") {
            "\($0.date("MM-dd HH:mm:ss.SSS"))  4242  4260 I \($0.tag): \($0.message)"
        },
        Wrapping(name: "logcat time") { "\($0.date("MM-dd HH:mm:ss.SSS")) I/\($0.tag)( 4242): \($0.message)" },
        Wrapping(name: "logcat brief", hasTime: false) { "I/\($0.tag)( 4242): \($0.message)" },
        Wrapping(name: "logcat long", isOneLine: false) {
            "[ \($0.date("MM-dd HH:mm:ss.SSS"))  4242: 4260 I/\($0.tag) ]\n\($0.message)\n"
        },
        Wrapping(name: "RFC 3164") { "<13>\($0.date("MMM dd HH:mm:ss")) phone App[4242]: \($0.marked)" },
        Wrapping(name: "RFC 5424") {
            #"<165>1 \#($0.time) phone App 4242 ID47 [ex@32473 iut="3" s="a]\"b"] \#($0.marked)"#
        },
        Wrapping(name: "RFC 5424 with nil values") { "<14>1 \($0.time) - App - - - \u{FEFF}\($0.marked)" },
        Wrapping(name: "journal short-iso") { "\($0.date("yyyy-MM-dd'T'HH:mm:ss"))+0000 host App[4242]: \($0.marked)" },
        Wrapping(name: "journal json") {
            json(["MESSAGE": $0.marked, "_PID": "4242", "_HOSTNAME": "host", "__REALTIME_TIMESTAMP": $0.microseconds])
        },
        Wrapping(name: "structlog") {
            json(["event": $0.marked, "level": "info", "logger": "app", "timestamp": "\($0.time)"])
        },
        Wrapping(name: "NSLog, stamped") { "\($0.time) \($0.unbracketed)" },
        Wrapping(name: "NSLog in oslog syslog") {
            "\($0.apple)+0000  localhost App[4242]: (Foundation) \($0.unbracketed)"
        },
        Wrapping(name: "NSLog in Xcode") { "\($0.apple)+0000 App[4242:123456] \($0.unbracketed)" },
        Wrapping(name: "console of Capacitor in logcat") {
            "\($0.date("MM-dd HH:mm:ss.SSS"))  4242  4260 I Capacitor/Console: \($0.unbracketed)"
        },
        Wrapping(name: "RFC 3164 with the tag") {
            "<13>\($0.date("MMM dd HH:mm:ss")) phone \($0.tag)[4242]: \($0.message)"
        },
        Wrapping(name: "journal json in bytes") {
            json([
                "MESSAGE": Array($0.marked.utf8).map { Int($0) }, "_PID": "4242", "_HOSTNAME": "host",
                "__REALTIME_TIMESTAMP": $0.microseconds,
            ])
        },
    ]

    /// The wrappers of the background refresh: also those that name its process alone.
    static let ofRefresh =
        all + [
            Wrapping(name: "oslog syslog of the process AIQ") {
                "\($0.apple)+0000  localhost AIQ[4242]: \($0.message)"
            },
            Wrapping(name: "Xcode of the process AIQ") { "\($0.apple)+0000 AIQ[4242:123456] \($0.message)" },
            Wrapping(name: "idevicesyslog of the process AIQ") {
                "\($0.date("MMM dd HH:mm:ss")) Someones-iPhone AIQ[4242] <Notice>: \($0.message)"
            },
        ]

    private static func json(_ object: [String: Any]) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

extension PluginLine {
    private var isOfRefresh: Bool { component == PluginLine.refresh }
    fileprivate var subsystem: String { isOfRefresh ? "com.aiq.app" : "com.timesafari.dailynotification" }
    fileprivate var name: String { isOfRefresh ? "BackgroundRefresh" : component }
    fileprivate var tag: String { isOfRefresh ? name : "DNP-\(component.uppercased())" }
    fileprivate var marked: String { "[\(tag)] \(message)" }
    fileprivate var unbracketed: String { "\(tag): \(message)" }
    fileprivate var category: String { "[\(subsystem):\(name)]" }
    fileprivate var apple: String { date("yyyy-MM-dd HH:mm:ss.SSS") + "000" }
    fileprivate var microseconds: String { "\(time.microseconds)" }

    fileprivate func date(_ format: String, hours: Int = 0) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: hours * 3_600)
        formatter.dateFormat = format
        return formatter.string(from: Date(timeIntervalSince1970: Double(time.microseconds) / 1e6))
    }
}

/// What happens to logs on their way: each makes a file of the wrapped lines.
enum WrittenLog: CaseIterable {
    case plain, crlf, byteOrderMark, withoutLastLineFeed, coloured, amongOthers, cutShort

    private static let others: [[UInt8]] = [
        Array("random words".utf8), [0xFF, 0xFE, 0x00, 0x80, 0x20, 0xC3], [UInt8](repeating: 0x78, count: 70_000), [],
        Array("2025-11-15 05:41:00.000000+0000 Other[9:9] CoreData: hello id=evil success=true".utf8),
        Array("11-15 05:41:00.000   999   999 E AndroidRuntime: FATAL EXCEPTION".utf8), Array(#"{"foo":1}"#.utf8),
        Array("Nov 15 05:41:00 phone kernel[0] <Notice>: something".utf8),
        Array(#"2025-11-15T05:50:00Z a tool printed "[DNP-FETCH] Fetch success (status=200)""#.utf8),
    ]

    func bytes(of lines: [String]) -> [UInt8] {
        let text = lines.joined(separator: "\n")
        switch self {
        case .plain: return Array((text + "\n").utf8)
        case .crlf: return Array((text.replacing("\n", with: "\r\n") + "\r\n").utf8)
        case .byteOrderMark: return [0xEF, 0xBB, 0xBF] + Array((text + "\n").utf8)
        case .withoutLastLineFeed: return Array(text.utf8)
        case .coloured:
            let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
            return Array(rows.map { $0.isEmpty ? "" : "\u{1B}[32m\($0)\u{1B}[0m" }.joined(separator: "\n").utf8)
        case .amongOthers:
            return Array(
                lines.enumerated().map { index, line in
                    Array(line.utf8) + [0x0A] + Self.others[index % Self.others.count]
                }
                .joined(separator: [0x0A])
            )
        case .cutShort: return Array((text + "\n2025-11-15T05:53:0").utf8)
        }
    }
}
