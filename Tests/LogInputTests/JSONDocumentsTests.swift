// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LogInput

@Suite("JSON documents are told from lines")
struct JSONDocumentsTests {
    static func begins(_ text: String, isWhole: Bool = false) -> Bool {
        JSONDocuments.begins(Array(text.utf8)[...], isWhole: isWhole)
    }

    @Test(
        "by how they begin",
        arguments: [
            "[{\"event\":1}]", " \n[\n  {\n", "[]", "\u{FEFF}[{", "{\n  \"event\": \"x\",\n",
            "{ \"events\": [\n{\"a\":1},\n",
            "{\"events\":[{\"event\":\"a\"}]}\n", "{\"sentAt\":\"t\", \"events\" : [ {} ] }\n{}\n",
            "{\"event\":\n\"x\"}",
        ]
    )
    func documents(text: String) {
        #expect(Self.begins(text))
    }

    @Test(
        "and not by a bracket or a brace alone",
        arguments: [
            "", " ", "[DNP-FETCH] Starting fetch", "[2025-11-15] x", "[ 12.34] kernel",
            "{\"event\":\"a\"}\n{\"event\":\"b\"}\n",
            "{\"traceID\":1,\"eventMess\n{\"traceID\":2}\n", "{DNP}\n", "{\"event\":\"events\"}\n{}", "x", "{", "[",
            "{\"a\":\"\\\"events\\\":[\"}\n",
        ]
    )
    func lines(text: String) {
        #expect(!Self.begins(text))
    }

    @Test("a single object is read as a document when it is all there is")
    func single() {
        #expect(Self.begins("{\"event\":\"a\"}", isWhole: true))
        #expect(!Self.begins("{\"event\":\"a\"}", isWhole: false))
    }
}
