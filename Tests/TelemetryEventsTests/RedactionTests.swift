// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Nothing personal leaves the decoder")
struct RedactionTests {
    static let personal = [
        "someone@example.org", "0041791234567", "call +1 415 555 0123", "(415) 555-0123", "415-555-0123",
        "did:ethr:0x0123456789abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "Bearer abcdef",
    ]

    @Test(
        "in no text field",
        arguments: personal,
        ["scheduleId", "eventId", "error", "appVersion", "platform", "deviceModel"]
    )
    func texts(secret: String, field: String) throws {
        let lines = try canonical(decode(event(with: #""\#(field)":"\#(secret)""#)))
        #expect(lines.count == 1)
        #expect(!lines[0].contains(secret))
        for word in ["someone", "555", "0041", "0x0123", "eyJ", "abcdef"] { #expect(!lines[0].contains(word)) }
    }

    @Test("not in unknown fields, reasons or the sentences behind an error code")
    func dropped() throws {
        let line = try canonical(
            decode(
                event(with: #""title":"T","body":"B","reason":"because of Ada","error":"notifications_denied for Ada""#)
            )
        )
        #expect(line == [event(with: #""error":"notifications_denied""#)])
    }

    @Test("no sentence and no name that somebody gave a thing")
    func sentences() throws {
        let line = try canonical(decode(event(with: #""error":"Ada was not found","deviceModel":"Adas iPhone""#)))
        #expect(line == [event(with: "").replacing(",}", with: "}")])
    }

    @Test("two personal schedule ids stay two, and the same one stays the same")
    func distinct() throws {
        let lines = try ["a@b.org", "c@d.org", "a@b.org"].map {
            try canonical(decode(event(with: #""scheduleId":"\#($0)""#)))
        }
        #expect(lines[0] != lines[1])
        #expect(lines[0] == lines[2])
        #expect(lines[0][0].contains(#""scheduleId":"redacted-"#))
    }

    @Test("what stands for a personal id is taken for no telephone number")
    func stable() throws {
        let once = try canonical(decode(event(with: #""scheduleId":"a@b.org""#)))
        #expect(try canonical(decode(once[0])) == once)
    }

    @Test(
        "ids that only look numerical are left alone",
        arguments: [
            "notif-2025-11-15", "notif-1763185712000", "daily_09:00", "8c6976e5-b541-4bee-bde9-7f8e0a3c2b11", "edit:1",
        ]
    )
    func harmless(id: String) throws {
        let lines = try canonical(decode(event(with: #""scheduleId":"\#(id)""#)))
        #expect(lines[0].contains(#""scheduleId":"\#(id)""#))
    }

    @Test("an installation leaves as its pseudonym only")
    func installation() throws {
        let lines = try canonical(decode(event(with: #""installationId":"device-of-ada""#)))
        #expect(!lines[0].contains("ada"))
        #expect(lines[0].contains(#""installation":""#))
    }
}
