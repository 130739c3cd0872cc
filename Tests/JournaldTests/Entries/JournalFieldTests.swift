// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Journal field names")
struct JournalFieldTests {
    @Test("names that journald takes are accepted", arguments: ["A", "MESSAGE", "DNP_SEQ", "X9_", "A__B"])
    func accepted(name: String) throws {
        #expect(try JournalField(name: name).name == name)
    }

    @Test("64 bytes are the most")
    func length() throws {
        #expect(try JournalField(name: String(repeating: "A", count: 64)).name.utf8.count == 64)
        let long = String(repeating: "A", count: 65)
        #expect(throws: JournalFieldError.tooLong(name: long, bytes: 65)) { try JournalField(name: long) }
    }

    @Test("an empty name is refused")
    func empty() {
        #expect(throws: JournalFieldError.empty) { try JournalField(name: "") }
    }

    @Test("a digit or an underscore in front is refused", arguments: ["_PID", "9LIVES", "__CURSOR"])
    func leading(name: String) {
        #expect(throws: JournalFieldError.leadingCharacter(name: name)) { try JournalField(name: name) }
    }

    @Test(
        "any other character is refused and its place is told",
        arguments: [("message", 0), ("MESSAGe", 6), ("A B", 1), ("A=B", 1), ("A\nB", 1), ("A\0B", 1), ("AÄ", 1)]
    )
    func character(name: String, offset: Int) {
        #expect(throws: JournalFieldError.character(name: name, offset: offset)) { try JournalField(name: name) }
    }

    @Test("errors say what to do")
    func descriptions() {
        #expect("\(JournalFieldError.empty)".contains("1 to 64"))
        #expect("\(JournalFieldError.character(name: "a", offset: 0))".contains("at byte 0"))
    }
}
