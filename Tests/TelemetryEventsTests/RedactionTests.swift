// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Redaction")
struct RedactionTests {
    static let personal = [
        "someone@example.org", "0041791234567", "call +1 415 555 0123", "(415) 555-0123", "415-555-0123",
        "did:ethr:0x0123456789abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "Bearer abcdef",
    ]

    @Test(
        "no text field lets personal data out of the decoder",
        arguments: personal,
        ["scheduleId", "eventId", "error", "appVersion", "platform", "deviceModel"]
    )
    func textFieldsAreRedacted(secret: String, field: String) throws {
        let lines = try canonical(decode(event(with: #""\#(field)":"\#(secret)""#)))
        #expect(lines.count == 1)
        #expect(!lines[0].contains(secret))
        for word in ["someone", "555", "0041", "0x0123", "eyJ", "abcdef"] { #expect(!lines[0].contains(word)) }
    }

    @Test("unknown fields, reasons and sentences after an error code never leave the decoder")
    func sentencesAndUnknownFieldsAreDropped() throws {
        let line = try canonical(
            decode(
                event(with: #""title":"T","body":"B","reason":"because of Ada","error":"notifications_denied for Ada""#)
            )
        )
        #expect(line == [event(with: #""error":"notifications_denied""#)])
    }

    @Test("no sentence and no user-chosen name leaves the decoder")
    func userChosenNamesAreDropped() throws {
        let line = try canonical(decode(event(with: #""error":"Ada was not found","deviceModel":"Adas iPhone""#)))
        #expect(line == [event(with: "").replacing(",}", with: "}")])
    }

    @Test("two personal schedule ids stay different and equal ones stay equal")
    func redactedIdsStayDistinct() throws {
        let lines = try ["a@b.org", "c@d.org", "a@b.org"].map {
            try canonical(decode(event(with: #""scheduleId":"\#($0)""#)))
        }
        #expect(lines[0] != lines[1])
        #expect(lines[0] == lines[2])
        #expect(lines[0][0].contains(#""scheduleId":"redacted-"#))
    }

    @Test("a redacted id is not mistaken for a telephone number")
    func redactedIdIsStable() throws {
        let once = try canonical(decode(event(with: #""scheduleId":"a@b.org""#)))
        #expect(try canonical(decode(once[0])) == once)
    }

    @Test(
        "ids that only look numerical are not redacted",
        arguments: [
            "notif-2025-11-15", "notif-1763185712000", "daily_09:00", "8c6976e5-b541-4bee-bde9-7f8e0a3c2b11", "edit:1",
        ]
    )
    func numericalIdsAreNotRedacted(id: String) throws {
        let lines = try canonical(decode(event(with: #""scheduleId":"\#(id)""#)))
        #expect(lines[0].contains(#""scheduleId":"\#(id)""#))
    }

    @Test("an installation id leaves the decoder only as its pseudonym")
    func installationLeavesAsPseudonym() throws {
        let lines = try canonical(decode(event(with: #""installationId":"device-of-ada""#)))
        #expect(!lines[0].contains("ada"))
        #expect(lines[0].contains(#""installation":""#))
    }
}
