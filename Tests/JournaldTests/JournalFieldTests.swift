// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Journal field names")
struct JournalFieldTests {
    @Test("field names that journald accepts are accepted", arguments: ["A", "MESSAGE", "DNP_SEQ", "X9_", "A__B"])
    func accepted(name: String) throws {
        #expect(try JournalField(name: name).name == name)
    }

    @Test("a field name of 64 bytes is accepted and one of 65 refused")
    func length() throws {
        #expect(try JournalField(name: String(repeating: "A", count: 64)).name.utf8.count == 64)
        let long = String(repeating: "A", count: 65)
        #expect(throws: JournalFieldError.tooLong(name: long, bytes: 65)) { try JournalField(name: long) }
    }

    @Test("an empty field name is refused")
    func empty() {
        #expect(throws: JournalFieldError.empty) { try JournalField(name: "") }
    }

    @Test(
        "a field name that starts with a digit or an underscore is refused",
        arguments: ["_PID", "9LIVES", "__CURSOR"]
    )
    func leading(name: String) {
        #expect(throws: JournalFieldError.leadingCharacter(name: name)) { try JournalField(name: name) }
    }

    @Test(
        "a field name with an invalid character is refused with the character's offset",
        arguments: [("message", 0), ("MESSAGe", 6), ("A B", 1), ("A=B", 1), ("A\nB", 1), ("A\0B", 1), ("AÄ", 1)]
    )
    func character(name: String, offset: Int) {
        #expect(throws: JournalFieldError.character(name: name, offset: offset)) { try JournalField(name: name) }
    }

    @Test("errors of field names say what to do")
    func descriptions() {
        #expect("\(JournalFieldError.empty)".contains("1 to 64"))
        #expect("\(JournalFieldError.character(name: "a", offset: 0))".contains("at byte 0"))
    }
}

@Suite("Journal conditions as texts")
struct JournalMatchTests {
    @Test("a condition in journalctl's syntax is parsed")
    func readable() throws {
        let condition = try JournalMatch.condition(["SYSLOG_IDENTIFIER=app", "+", "_SYSTEMD_UNIT=a=b.service", "X="])
        let unit = try JournalField(reading: "_SYSTEMD_UNIT")
        #expect(
            condition == [.equal(.syslogIdentifier, "app"), .or, .equal(unit, "a=b.service"), .equal("X", "")]
        )
        #expect(try JournalMatch.condition([]) == [])
    }

    @Test(
        "an invalid condition is refused with what is wrong",
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

    @Test("a field name to read has at most 64 bytes, including the underscore")
    func longNames() throws {
        _ = try JournalField(reading: "_" + String(repeating: "A", count: 63))
        #expect(throws: JournalFieldError.self) {
            try JournalField(reading: "_" + String(repeating: "A", count: 64))
        }
    }
}
