// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@Suite("Texts of events in their shapes")
struct TextShapeTests {
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
    func pseudonymsStayDistinct() throws {
        let lines = try ["a@b.org", "c@d.org", "a@b.org"].map {
            try canonical(decode(event(with: #""scheduleId":"\#($0)""#)))
        }
        #expect(lines[0] != lines[1])
        #expect(lines[0] == lines[2])
        #expect(lines[0][0].contains(#""scheduleId":"redacted-"#))
    }

    @Test("a pseudonym is taken as it is when its event is sent again")
    func pseudonymIsStable() throws {
        let once = try canonical(decode(event(with: #""scheduleId":"a@b.org""#)))
        #expect(try canonical(decode(once[0])) == once)
    }

    /// Numbers that people may be called by, in the forms in which clients write them, and pieces of them.
    static let numbers = [
        "4155550127", "1763190000", "20261122", "202611221530", "1711234567", "01711234567", "00491711234567",
        "0001234567", "006834001", "12345678", "1234567", "daily-4155550127", "daily-01711234567", "daily-0123456",
        "daily-01234567", "notif-012345678", "daily-001234567", "notif-006834001", "daily_00012345678", "evt001234567",
        "phone-12345678", "foo-1234567", "run-01234567", "refresh-4155550127", "000-415-5501", "00041555-50127",
        "000123-4567", "0000415-5550",
        "daily-0000415-5550127", "daily-12345678-42", "daily-0000042-123456",
    ]

    @Test("an id that may be a telephone number becomes a pseudonym, whatever is before its digits", arguments: numbers)
    func numbersBecomePseudonyms(id: String) throws {
        let decoded = decode(event(with: #""scheduleId":"\#(id)","eventId":"\#(id)""#))
        let line = try #require(try canonical(decoded).first)
        #expect(!line.contains(id))
        for field in ["scheduleId", "eventId"] {
            #expect(LogReading.value(of: field, in: line)?.hasPrefix("redacted-h") == true)
        }
        #expect(decoded.altered[.scheduleId] == 1 && decoded.altered[.eventId] == 1)
    }

    @Test("116 honest ids leave the decoder unchanged", arguments: HonestCorpus.identifiers)
    func honestIdsStay(id: String) throws {
        let decoded = decode(event(with: #""scheduleId":"\#(id)","eventId":"\#(id)""#))
        #expect(
            try canonical(decoded) == [
                #"{"event":"prefetch_success","scheduleId":"\#(id)","timestamp":"2025-11-15T05:48:32Z","eventId":"\#(id)"}"#
            ]
        )
        #expect(decoded.altered.isEmpty)
    }

    @Test("48 honest versions leave the decoder unchanged", arguments: HonestCorpus.versions)
    func honestVersionsStay(version: String) throws {
        let line = event(with: #""appVersion":"\#(version)","osVersion":"\#(version)""#)
        let decoded = decode(line)
        #expect(try canonical(decoded) == [line])
        #expect(decoded.altered.isEmpty)
    }

    @Test("35 honest models leave the decoder unchanged", arguments: HonestCorpus.models)
    func honestModelsStay(model: String) throws {
        let line = event(with: #""deviceModel":"\#(model)""#)
        #expect(try canonical(decode(line)) == [line])
    }

    @Test("30 honest errors leave the decoder unchanged, from JSON and from a log line", arguments: HonestCorpus.errors)
    func honestErrorsStay(error: String) throws {
        let line = event(with: #""error":"\#(error)""#)
        #expect(try canonical(decode(line)) == [line])
        let reading = try LogReading("2025-11-15T05:50:03Z [DNP-FETCH] Fetch failed: error=\(error), willRetry=false\n")
        #expect(reading.events.count == 1)
        #expect(reading.events[0].contains(#""error":"\#(error)""#))
    }

    @Test(
        "a platform is one of the known names or other",
        arguments: [
            ("ios", "ios"), ("iOS", "iOS"), ("iPadOS", "iPadOS"), ("iPhone OS", "iPhone OS"), ("Android", "Android"),
            ("web", "web"), ("Jane", "other"), ("jane@example.org", "other"), ("other", "other"),
        ]
    )
    func platformsAreKnown(platform: String, kept: String) throws {
        let decoded = decode(event(with: #""platform":"\#(platform)""#))
        #expect(try canonical(decoded) == [event(with: #""platform":"\#(kept)""#)])
        #expect(decoded.altered[.platform] == (platform == kept ? 0 : 1))
    }

    @Test("of hashes MD5 stays, and a fingerprint of any other, which is counted where its length is that of no hash")
    func hashesHaveLengths() throws {
        let digits = String(repeating: "0aF9", count: 32)
        func kept(_ hash: String) throws -> String? {
            LogReading.value(of: "contentHash", in: try canonical(decode(event(with: #""contentHash":"\#(hash)""#)))[0])
        }
        #expect(try kept(String(digits.prefix(32))) == String(digits.prefix(32)).lowercased())
        for length in [40, 56, 64, 96, 128] {
            let fingerprint = try #require(try kept(String(digits.prefix(length))))
            #expect(fingerprint.count == 12 && fingerprint.hasPrefix("h"))
            #expect(try kept(String(digits.prefix(length)).lowercased()) == fingerprint, "letter case tells nothing")
            #expect(try kept(String(digits.dropFirst(1).prefix(length - 1)) + "1") != fingerprint)
            #expect(try kept(fingerprint) == fingerprint, "an event that is sent again is the same")
        }
        for length in [1, 7, 16, 31, 33, 48, 63, 127] {
            let decoded = decode(event(with: #""contentHash":"\#(digits.prefix(length))""#))
            #expect(decoded.altered[.contentHash] == 1)
            let fingerprint = try #require(LogReading.value(of: "contentHash", in: try canonical(decoded)[0]))
            #expect(fingerprint.count == 12 && fingerprint.hasPrefix("h"))
            #expect(try kept(String(digits.prefix(length)).lowercased()) == fingerprint)
            #expect(try kept(String(digits.prefix(length - 1)) + "1") != fingerprint || length == 1)
        }
    }

    @Test("altered texts are counted by field, once for each event that is accepted")
    func alteredTextsAreCounted() {
        let texts =
            #""scheduleId":"a@b.org","eventId":"0171 1234567","error":"It broke","platform":"Jane","#
            + #""appVersion":"Jane","osVersion":"Jane","deviceModel":"Jane","contentHash":"ab","scheduleHash":"ab""#
        for line in [event(with: texts), event(with: texts) + " \n", "[\(event(with: texts))]"] {
            let decoded = decode(line, as: line.hasPrefix("[") ? .document : .lines)
            #expect(decoded.events.count == 1)
            for field in ShapedField.allCases { #expect(decoded.altered[field] == 1, "\(field)") }
        }
        let rejected = decode(event(with: texts + #","ttl":"x""#))
        #expect(rejected.rejected == 1 && rejected.altered.isEmpty)
    }

    @Test("an installation id leaves the decoder only as its pseudonym")
    func installationLeavesAsPseudonym() throws {
        let lines = try canonical(decode(event(with: #""installationId":"device-of-ada""#)))
        #expect(!lines[0].contains("ada"))
        #expect(lines[0].contains(#""installation":""#))
    }
}
