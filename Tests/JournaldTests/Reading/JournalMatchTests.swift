// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Conditions as texts")
struct JournalMatchTests {
    @Test("are read as journalctl takes them")
    func readable() throws {
        let condition = try JournalMatch.condition(["SYSLOG_IDENTIFIER=app", "+", "_SYSTEMD_UNIT=a=b.service", "X="])
        let unit = try JournalField(reading: "_SYSTEMD_UNIT")
        #expect(
            condition == [.equal(.syslogIdentifier, "app"), .or, .equal(unit, "a=b.service"), .equal("X", "")]
        )
        #expect(try JournalMatch.condition([]) == [])
    }

    @Test(
        "tell what is wrong with them",
        arguments: [
            (["app"], "expected FIELD=VALUE such as SYSLOG_IDENTIFIER=app, or + between two of them, found \"app\""),
            (["=app"], "expected FIELD=VALUE such as SYSLOG_IDENTIFIER=app, or + between two of them, found \"=app\""),
            (["+", "A=1"], "expected a match in front of each + and one behind it, found none there"),
            (["A=1", "+"], "expected a match in front of each + and one behind it, found none there"),
            (["A=1", "+", "+", "B=1"], "expected a match in front of each + and one behind it, found none there"),
            (
                ["unit=a"],
                "journal field name \"unit\" has a character other than A-Z, 0-9 and _ at byte 0; replace it"
            ),
            (
                ["__CURSOR=a"],
                "journal field name \"_CURSOR\" starts with a digit or an underscore; start it with a letter A-Z"
            ),
            (
                [String](repeating: "A=1", count: 65),
                "expected at most 64 matches of at most 16384 bytes together, found more"
            ),
        ] as [([String], String)]
    )
    func unreadable(_ texts: [String], _ problem: String) {
        #expect(performing: { try JournalMatch.condition(texts) }, throws: { "\($0)" == problem })
    }

    @Test("no name is longer than 64 bytes, the underscore included")
    func longNames() throws {
        _ = try JournalField(reading: "_" + String(repeating: "A", count: 63))
        #expect(throws: JournalFieldError.self) {
            try JournalField(reading: "_" + String(repeating: "A", count: 64))
        }
    }
}
