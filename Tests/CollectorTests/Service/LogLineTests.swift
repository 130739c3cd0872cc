// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Testing

@testable import Collector

@Suite("Lines of the service's own log")
struct LogLineTests {
    private static let time: Int64 = 1_763_185_712_000_000

    @Test("a line has its form, with a time of its own or without")
    func forms() {
        let metadata: Logger.Metadata = ["file": "/var/log/a b.log", "count": "3"]
        let line = LogLine(.warning, "it was rotated", metadata, time: Self.time)
        #expect(
            line.text(.text) == #"2025-11-15T05:48:32Z warning: it was rotated count=3 file="/var/log/a b.log""#
        )
        #expect(
            line.text(.logfmt)
                == #"ts=2025-11-15T05:48:32Z level=warning msg="it was rotated" count=3 file="/var/log/a b.log""#
        )
        #expect(
            line.text(.json)
                == #"{"ts":"2025-11-15T05:48:32Z","level":"warning","msg":"it was rotated","count":"3","file":"/var/log/a b.log"}"#
        )
        let unstamped = LogLine(.info, "x", [:], time: nil)
        #expect(unstamped.text(.text, hasLevel: false) == "x")
        #expect(unstamped.text(.logfmt, hasLevel: false) == "level=info msg=x")
    }

    @Test(
        "the journal gets its priorities and no time",
        arguments: [
            (Logger.Level.trace, "<7>x\n"), (.debug, "<7>x\n"), (.info, "<6>x\n"), (.notice, "<5>x\n"),
            (.warning, "<4>x\n"), (.error, "<3>x\n"), (.critical, "<2>x\n"),
        ]
    )
    func priorities(level: Logger.Level, expected: String) {
        #expect(LogOutput(.text, isJournal: true).line(level, "x", [:]) == expected)
        let json = LogOutput(.json, isJournal: true).line(level, "x", [:])
        #expect(json == expected.prefix(3) + #"{"level":"\#(level)","msg":"x"}"# + "\n")
    }

    /// Texts that want to end a line, a value or a string, to move a cursor, or to turn the direction of writing.
    private static let hostile = [
        "a\nb", "a\r\n<0>forged", "\" level=critical x=\"", "\"}\n{\"level\":\"critical\"", "\\\"", "\\",
        "\t\u{0}\u{1B}[2J",
        "\u{9B}31m", "\u{202E}gnp", "\u{2028}x", "a=b", "", " ", "\u{7F}", "\u{E000}\u{10FFFF}", "ünï 😀",
    ]

    @Test("whatever message, keys and values hold, a line stays one line, and reads back as it was", arguments: hostile)
    func hostileText(text: String) throws {
        for isJournal in [false, true] {
            for format in LogFormat.allCases {
                let line = LogOutput(format, isJournal: isJournal).line(.error, text, ["k": "\(text)", "msg": "x"])
                let unsafe = line.dropLast().unicodeScalars.filter {
                    $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || [0x2028, 0x2029, 0x202E].contains($0.value)
                }
                #expect(line.last == "\n" && unsafe.isEmpty, "\(line)")
            }
        }
        let line = LogLine(.error, text, ["k": "\(text)", "msg": "x", "\(text).": "y"], time: nil)
        let object = try JSONSerialization.jsonObject(with: Data(line.text(.json).utf8)) as? [String: String]
        #expect(object?["msg"] == text && object?["k"] == (text.isEmpty ? object?["k"] : text))
        #expect(object?["level"] == "error" && object?["msg_"] == "x")
        let pairs = Self.pairs(line.text(.logfmt))
        #expect(pairs.map(\.key) == ["level", "msg"] + line.values.map(\.key))
        #expect(pairs.first { $0.key == "msg" }?.value == text)
    }

    /// Reads a line of logfmt.
    private static func pairs(_ line: String) -> [(key: String, value: String)] {
        line.matches(of: #/([A-Za-z0-9._-]+)=("(?:[^"\\]|\\.)*"|[^ "=]+)(?: |$)/#).map { match in
            let value = String(match.output.2)
            let isQuoted = value.hasPrefix("\"")
            let decoded = isQuoted ? try? JSONDecoder().decode(String.self, from: Data(value.utf8)) : value
            return (String(match.output.1), decoded ?? "unreadable")
        }
    }
}
