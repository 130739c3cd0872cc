// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CollectorClient

@Suite("An answer to a batch")
struct BatchOutcomeTests {
    private func outcome(
        _ status: Int,
        _ body: String = "",
        type: String = "application/problem+json",
        retryAfter: String? = nil
    ) -> BatchOutcome {
        BatchOutcome(CollectorAnswer(status: status, type: type, retryAfter: retryAfter, body: Array(body.utf8)))
    }

    @Test("of 200 says what was stored")
    func taken() {
        let body = #"""
            {"accepted":2,"duplicates":1,"rejected":[{"index":3,"reason":"no"}],"rejectedOmitted":5,
             "lines":{"read":9,"recognised":8,"foreign":1,"unrecognised":0}}
            """#
        guard case .taken(let receipt) = outcome(200, body, type: "Application/JSON; charset=utf-8") else {
            Issue.record("it was not taken")
            return
        }
        #expect(receipt.accepted == 2 && receipt.duplicates == 1 && receipt.rejectedTotal == 6)
        #expect(receipt.lines?.read == 9)
    }

    @Test("of 400 that names events refuses these, and no others")
    func unreadable() {
        let named = outcome(400, #"{"type":"x","rejected":[{"index":0,"reason":"no"}]}"#)
        #expect(named == .taken(.init(accepted: 0, duplicates: 0, rejected: [.init(index: 0, reason: "no")])))
        #expect(outcome(400, #"{"type":"x","detail":"Broken."}"#) == .refused("HTTP 400, Broken"))
    }

    @Test("that may change is asked for again", arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func again(status: Int) {
        #expect(outcome(status, type: "text/html") == .again("HTTP \(status)", after: nil))
        #expect(outcome(status, retryAfter: "3") == .again("HTTP \(status)", after: .seconds(3)))
    }

    @Test("that will not change is final", arguments: [201, 204, 301, 307, 401, 403, 404, 405, 415, 422])
    func final(status: Int) {
        guard case .refused(let words) = outcome(status, type: "text/html") else {
            Issue.record("\(status) is not final")
            return
        }
        #expect(words.contains("\(status)"))
    }

    @Test("of 413 asks for less")
    func tooLarge() {
        #expect(outcome(413, #"{"title":"Too large"}"#) == .tooLarge("HTTP 413, Too large"))
    }

    @Test(
        "that no collector gives is none",
        arguments: [
            ("text/html", "<html>"), ("", ""), ("application/json", "[]"), ("application/json", #"{"accepted":-1}"#),
            ("application/json", #"{"accepted":1e99,"duplicates":0,"rejected":[]}"#),
        ]
    )
    func foreign(type: String, body: String) {
        guard case .refused = outcome(200, body, type: type) else {
            Issue.record("\(type) \(body) was taken")
            return
        }
    }

    @Test("is shown without what moves a terminal")
    func plain() {
        guard case .refused(let words) = outcome(403, #"{"detail":"\u001b[31mred\nnew line"}"#) else { return }
        #expect(!words.contains("\u{1B}") && !words.contains("\n"))
    }
}
