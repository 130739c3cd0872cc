// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

/// The parsing tests of JSONTestSuite. A value stands as a field of an event, under names that the decoder skips and under
/// those that it reads, and alone, where a document may hold several values and an empty one is blank.
@Suite("JSONTestSuite")
struct JSONTestSuiteTests {
    /// The reasons that speak of JSON itself, not of what an event needs.
    private static let syntax: Set<RejectionReason> = [.malformedJSON, .truncated, .invalidUTF8, .tooDeep]
    /// A name outside the vocabulary, and one of each type of field.
    private static let fields = [
        "x", "reason", "scheduleId", "timestamp", "duration_ms", "bytes", "willRetry", "contentHash", "telemetry",
        "network",
    ]

    private static func event(with field: String, _ value: [UInt8]) -> [UInt8] {
        Array(#"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z",""#.utf8)
            + Array("\(field)\":".utf8) + value + Array("}".utf8)
    }

    @Test("the table has the 95 valid, 188 invalid and 35 open cases of JSONTestSuite, each once")
    func jsonTestSuiteIsWhole() {
        let all = JSONTestSuiteCase.valid + JSONTestSuiteCase.invalid + JSONTestSuiteCase.open
        #expect(JSONTestSuiteCase.valid.count == 95)
        #expect(JSONTestSuiteCase.invalid.count == 188)
        #expect(JSONTestSuiteCase.open.count == 35)
        #expect(Set(all.map(\.name)).count == all.count)
    }

    @Test("valid JSON as the value of an unknown field is accepted", arguments: JSONTestSuiteCase.valid)
    func validUnknownField(_ json: JSONTestSuiteCase) {
        let decoded = decode(Self.event(with: "x", json.bytes))
        #expect(decoded.events.count == 1 && decoded.rejected == 0 && decoded.unknownFields == 1)
    }

    @Test("valid JSON as a value of any field is never called a syntax error", arguments: JSONTestSuiteCase.valid)
    func validKnownField(_ json: JSONTestSuiteCase) {
        for field in Self.fields {
            let decoded = decode(Self.event(with: field, json.bytes))
            #expect(decoded.received == 1, "\(field)")
            #expect(decoded.rejections.allSatisfy { !Self.syntax.contains($0.reason) }, "\(field)")
        }
    }

    @Test("valid JSON alone is read to its end and refused for what it is", arguments: JSONTestSuiteCase.valid)
    func validAlone(_ json: JSONTestSuiteCase) {
        let decoded = decode(json.bytes)
        #expect(decoded.events.count == 0 && !decoded.isBlank)
        #expect(decoded.rejections.allSatisfy { [.notAnObject, .missingField].contains($0.reason) })
    }

    @Test("invalid JSON as a value of any field is rejected with a reason", arguments: JSONTestSuiteCase.invalid)
    func invalidField(_ json: JSONTestSuiteCase) {
        for field in Self.fields {
            let decoded = decode(Self.event(with: field, json.bytes))
            #expect(decoded.rejected > 0, "\(field)")
            #expect(decoded.rejections.allSatisfy { !$0.description.isEmpty })
            // Its second brace closes the event, and what is refused is the third.
            let isClosed = json.name == "n_structure_object_followed_by_closing_object"
            #expect(decoded.events.count == (isClosed && ["x", "telemetry"].contains(field) ? 1 : 0), "\(field)")
            if field == "x" { #expect(decoded.rejections.contains { Self.syntax.contains($0.reason) }) }
        }
    }

    @Test("invalid JSON alone holds no event, and is rejected or blank", arguments: JSONTestSuiteCase.invalid)
    func invalidAlone(_ json: JSONTestSuiteCase) {
        let decoded = decode(json.bytes)
        #expect(decoded.events.count == 0)
        switch json.name {
        case "n_single_space", "n_structure_no_data", "n_structure_UTF8_BOM_no_data":
            #expect(decoded.isBlank && decoded.rejected == 0)
        case "n_structure_double_array":
            #expect(!decoded.isBlank && decoded.rejected == 0, "a document may hold several values")
        default: #expect(!decoded.isBlank && decoded.rejected > 0)
        }
    }

    @Test("what RFC 8259 leaves open is taken or rejected as documented", arguments: JSONTestSuiteCase.open)
    func openField(_ json: JSONTestSuiteCase) {
        let decoded = decode(Self.event(with: "x", json.bytes))
        #expect(decoded.received == 1)
        #expect(decoded.rejections.first?.reason == Self.reason(of: json.name))
    }

    /// Numbers of any size are numbers; text is UTF-8 and whole surrogate pairs; 16 levels are enough.
    private static func reason(of name: String) -> RejectionReason? {
        switch name {
        case "i_structure_500_nested_arrays": .tooDeep
        case "i_string_UTF-16LE_with_BOM", "i_string_utf16BE_no_BOM", "i_string_utf16LE_no_BOM",
            "i_structure_UTF-8_BOM_empty_object":
            .malformedJSON
        default: name.hasPrefix("i_number") ? nil : .invalidUTF8
        }
    }

    @Test("a byte order mark before a document is skipped")
    func byteOrderMark() throws {
        let json = try #require(JSONTestSuiteCase.open.first { $0.name == "i_structure_UTF-8_BOM_empty_object" })
        #expect(decode(json.bytes).rejections.map(\.reason) == [.missingField])
    }

    /// What Foundation takes though it is invalid: one comma before a closing bracket.
    private static let takenByFoundation: Set<String> = [
        "n_array_extra_comma", "n_array_number_and_comma", "n_object_trailing_comma",
    ]

    @Test(
        "Foundation's parser agrees on what is valid and invalid",
        arguments: JSONTestSuiteCase.valid + JSONTestSuiteCase.invalid
    )
    func foundationAgrees(_ json: JSONTestSuiteCase) {
        let isTaken = (try? JSONSerialization.jsonObject(with: Data(json.bytes), options: .fragmentsAllowed)) != nil
        #expect(isTaken == (json.name.hasPrefix("y_") || Self.takenByFoundation.contains(json.name)))
    }
}
