// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

/// How each wrapper writes a line of the plugin: with a marker in brackets, without brackets, or by its tag.
struct WrappedLine: CustomTestStringConvertible, Sendable {
    var name: String
    var wrapper: LogWrapper
    /// Whether it has a time.
    var hasTime = true
    /// What it tells of the platform.
    var platform: String?
    /// The component, the message and the second of 2025-11-14 in which it was written.
    var line: @Sendable (_ component: String, _ message: String, _ second: Int) -> String

    var testDescription: String { name }

    static let all: [WrappedLine] =
        forms(.bare, hasTime: false) { message, _ in message }
        + forms(.stamped) { "\(time($1, "T"))Z \($0)" }
        + forms(.appleDefault, platform: "ios") {
            "\(time($1, " ")).000000+0000 0x1f2e     Default     0x0                  42   0    App: (Foundation) \($0)"
        }
        + forms(.appleCompact, platform: "ios") { "\(time($1, " ")).000 Df App[42:1f2e] (Foundation) \($0)" }
        + forms(.appleSyslog, platform: "ios") { "\(time($1, " ")).000000+0000  localhost App[42]: (Foundation) \($0)" }
        + forms(.appleNDJSON, platform: "ios") { record($0, $1) }
        + forms(.appleJSON, platform: "ios") { record($0, $1) }
        + forms(.idevicesyslog, platform: "ios") { "Nov 14 \(clock($1)) iPhone App(Foundation)[42] <Notice>: \($0)" }
        + forms(.xcode, platform: "ios") { "\(time($1, " ")).000000+0000 App[42:123456] \($0)" }
        + forms(.logcatThreadtime, platform: "android") {
            "11-14 \(clock($1)).000    42    43 I Capacitor/Console: \($0)"
        }
        + forms(.logcatTime, platform: "android") { "11-14 \(clock($1)).000 I/Capacitor(   42): \($0)" }
        + forms(.logcatBrief, hasTime: false, platform: "android") { message, _ in "I/Capacitor(   42): \(message)" }
        + forms(.logcatLong, platform: "android") { "[ 11-14 \(clock($1)).000    42:   43 I/Capacitor ]\n\($0)\n" }
        + forms(.logcatRaw, hasTime: false, platform: "android") { message, _ in message }
        + forms(.rfc3164) { "<13>Nov 14 \(clock($1)) host App[42]: \($0)" }
        + forms(.rfc5424) { "<165>1 \(time($1, "T"))Z host App 42 ID47 - \($0)" }
        + forms(.journalShortISO) { "\(time($1, "T"))+0000 host App[42]: \($0)" }
        + forms(.journalJSON) { json(["MESSAGE": $0, "_PID": "42", "__REALTIME_TIMESTAMP": "\(seconds($1))000000"]) }
        + forms(.structlog) { json(["event": $0, "level": "info", "timestamp": "\(time($1, "T"))Z"]) }
        + [
            WrappedLine(name: "oslog by its category", wrapper: .appleCompact, platform: "ios") {
                "\(time($2, " ")).000 Df App[42:1f2e] [com.timesafari.dailynotification:\($0.lowercased())] \($1)"
            },
            WrappedLine(name: "xcode by its category", wrapper: .xcode, platform: "ios") {
                "\(time($2, " ")).000000+0000 App[42:123456] [\($0.lowercased())] \($1)"
            },
            WrappedLine(name: "logcat by its tag", wrapper: .logcatThreadtime, platform: "android") {
                "11-14 \(clock($2)).000    42    43 I DNP-\($0): \($1)"
            },
            WrappedLine(name: "logcat long by its tag", wrapper: .logcatLong, platform: "android") {
                "[ 11-14 \(clock($2)).000    42:   43 I/DNP-\($0) ]\n\($1)\n"
            },
            WrappedLine(name: "logcat raw without a marker", wrapper: .logcatRaw, hasTime: false, platform: "android") {
                _,
                message,
                _ in message
            },
            WrappedLine(name: "syslog by its program", wrapper: .rfc3164) {
                "<13>Nov 14 \(clock($2)) host DNP-\($0)[42]: \($1)"
            },
        ]

    /// A wrapper with a marker in brackets, and without.
    private static func forms(
        _ wrapper: LogWrapper,
        hasTime: Bool = true,
        platform: String? = nil,
        _ wrap: @escaping @Sendable (String, Int) -> String
    ) -> [WrappedLine] {
        [
            WrappedLine(name: wrapper.rawValue, wrapper: wrapper, hasTime: hasTime, platform: platform) {
                wrap("[DNP-\($0)] \($1)", $2)
            },
            WrappedLine(
                name: "\(wrapper.rawValue) without brackets",
                wrapper: wrapper,
                hasTime: hasTime,
                platform: platform
            ) {
                wrap("DNP-\($0): \($1)", $2)
            },
        ]
    }

    private static func record(_ message: String, _ second: Int) -> String {
        json([
            "eventMessage": message, "subsystem": "", "processID": 42, "timestamp": "\(time(second, " ")).000000+0000",
        ])
    }

    private static func json(_ object: [String: Any]) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    private static func seconds(_ second: Int) -> Int { 1_763_078_400 + second }

    private static func clock(_ second: Int) -> String {
        [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    private static func time(_ second: Int, _ separator: String) -> String { "2025-11-14\(separator)\(clock(second))" }
}
