// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState

@Suite("What a verdict says")
struct CycleVerdictTests {
    @Test("is one line of JSON")
    func json() {
        #expect(
            String(decoding: CycleVerdict.drifted.json, as: UTF8.self) == #"""
                {"event":"cycle_closed","timestamp":"2025-11-15T06:07:00Z","scheduledFor":"2025-11-15T05:53:00Z",\#
                "cycle":"0123456789abcdef","outcome":"used","violations":[{"violation":"drift_exceeded","bucket":"C",\#
                "detail":"delivered 240 s after its time; iOS tolerates 180 s"}]}
                """#
        )
        var failed = CycleVerdict.bare
        failed.outcome = .failed
        failed.failureReason = .network
        #expect(
            String(decoding: failed.json, as: UTF8.self)
                == #"{"event":"cycle_closed","timestamp":"1970-01-01T00:00:00Z","outcome":"failed","reason":"NETWORK","violations":[]}"#
        )
    }

    @Test("is JSON whatever its sentences hold", arguments: 0..<30 as Range<UInt64>)
    func anySentences(seed: UInt64) throws {
        var random = SplitMix64(seed)
        let verdict = CycleVerdict.random(&random)
        #expect(!verdict.json.contains(UInt8(ascii: "\n")))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(verdict.json)) as? [String: Any])
        let violations = try #require(object["violations"] as? [[String: String]])
        #expect(violations.map { $0["detail"] } == verdict.violations.map(\.detail))
        #expect(violations.map { $0["violation"] } == verdict.violations.map { "\($0.kind.name)" })
    }

    @Test("is an error where hashes differ, else a warning", arguments: ViolationKind.allCases)
    func priority(kind: ViolationKind) {
        var verdict = CycleVerdict.drifted
        verdict.violations.append(CycleViolation(kind: kind, detail: ""))
        let isMismatch = kind == .contentHashMismatch || kind == .scheduleHashMismatch
        #expect(verdict.journalPriority == (isMismatch ? 3 : 4))
    }

    @Test("has a name that no client can send")
    func name() {
        let line = #"{"event":"cycle_closed","scheduleId":"a","timestamp":"2025-11-15T05:36:40Z"}"#
        let decoded = EventText.decode([line])
        #expect(decoded.events.count == 0)
        #expect(decoded.rejections.count == 1)
    }

    @Test("names its hash in sixteen digits", arguments: [0, 1, 0xFEDC_BA98_7654_3210, UInt64.max])
    func digits(word: UInt64) {
        let digits = String(decoding: [UInt8](hexadecimal: word), as: UTF8.self)
        #expect(digits.count == 16)
        #expect(UInt64(digits, radix: 16) == word)
        #expect(digits == digits.lowercased())
    }
}
