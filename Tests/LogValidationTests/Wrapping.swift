// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

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
                "eventMessage": $0.message, "subsystem": "com.timesafari.dailynotification", "category": $0.component,
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
        Wrapping(name: "journal json in bytes") {
            json([
                "MESSAGE": Array($0.marked.utf8).map { Int($0) }, "_PID": "4242", "_HOSTNAME": "host",
                "__REALTIME_TIMESTAMP": $0.microseconds,
            ])
        },
    ]

    private static func json(_ object: [String: Any]) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

extension PluginLine {
    fileprivate var tag: String { "DNP-\(component.uppercased())" }
    fileprivate var marked: String { "[\(tag)] \(message)" }
    fileprivate var category: String { "[com.timesafari.dailynotification:\(component)]" }
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
